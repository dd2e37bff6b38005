import { formatTime } from '../../../platform/time.ts';
import { type Html, html } from './html.ts';

/** @param iso `2026-11-21T16:05:00.000Z` */
const textOf = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;

/** Renders a time to the minute: `2026-11-21 16:05 UTC`. */
export const moment = (time: number): Html => {
  const iso = formatTime(time);
  return html`<time datetime="${iso}">${textOf(iso)}</time>`;
};

/** Like `relative`, for a time of the API: `2026-11-21T16:05:00.000Z`. */
export const relativeTo = (iso: string): Html =>
  html`<time datetime="${iso}" data-relative>${textOf(iso)}</time>`;

/** Renders a time that the client script shows relative to now: `3 hours ago`. */
export const relative = (time: number): Html => relativeTo(formatTime(time));

/** @param otherwise shown for null */
export const momentOr = (time: number | null, otherwise: string): Html | string =>
  time === null ? otherwise : moment(time);

/** Renders a time to the minute on the clocks of a time zone: `Sat 2026-11-21 17:05 Europe/Berlin`. */
export const localMoment = (time: number, timeZone: string): Html => {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(time);
  const part = (type: Intl.DateTimeFormatPartTypes): string =>
    parts.find((one) => one.type === type)?.value ?? '';
  const text = `${part('weekday')} ${part('year')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}`;
  return html`<time datetime="${formatTime(time)}">${text}</time> <span class="quiet">${timeZone}</span>`;
};
