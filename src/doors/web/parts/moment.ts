import { formatTime } from '../../../platform/time.ts';
import { type Html, html } from './html.ts';

/** Renders a time to the minute: `2026-11-21 16:05 UTC`. */
export const moment = (time: number): Html => {
  const text = formatTime(time);
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
};

/** @param otherwise shown for null */
export const momentOr = (time: number | null, otherwise: string): Html | string =>
  time === null ? otherwise : moment(time);
