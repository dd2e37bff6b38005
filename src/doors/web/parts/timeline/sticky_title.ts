/** The title of a record and its state, which stay in sight while one scrolls. Screen readers have the heading. */
import { type Html, html } from '../html.ts';

/** @param number with its sign: `#4` */
export const stickyTitle = (state: Html, title: string, number: string): Html =>
  html`<div class="sticky-title" id="sticky_title" data-part aria-hidden="true">${state}<b>${title}</b><span class="muted">${number}</span></div>`;
