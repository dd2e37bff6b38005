import { formatTime } from '../../../platform/time.ts';
import { type Html, html } from './html.ts';

const textOf = (time: number): string => `${formatTime(time).slice(0, 16).replace('T', ' ')} UTC`;

/** Renders a time to the minute: `2026-11-21 16:05 UTC`. */
export const moment = (time: number): Html =>
  html`<time datetime="${formatTime(time)}">${textOf(time)}</time>`;

/** Renders a time that the client script shows relative to now: `3 hours ago`. */
export const relative = (time: number): Html =>
  html`<time datetime="${formatTime(time)}" data-relative>${textOf(time)}</time>`;

/** @param otherwise shown for null */
export const momentOr = (time: number | null, otherwise: string): Html | string =>
  time === null ? otherwise : moment(time);
