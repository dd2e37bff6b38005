import { formatTime } from '../time.ts';
import { type Html, html } from './html.ts';

/** A time to the minute, for people and for programs: `2026-11-21 16:05 UTC`. */
export const moment = (time: number): Html => {
  const text = formatTime(time);
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
};

/** @param otherwise where there is none */
export const momentOr = (time: number | null, otherwise: string): Html | string =>
  time === null ? otherwise : moment(time);
