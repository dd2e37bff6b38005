import { type Html, html } from '../html.ts';

/** Renders where a page of one record is: a link to the list, and the page itself. */
export const breadcrumbs = ({ path, name }: { path: string; name: string }, title: string): Html =>
  html`<nav class="trail" aria-label="Breadcrumb"><ol><li><a href="${path}">${name}</a></li><li aria-current="page">${title}</li></ol></nav>`;
