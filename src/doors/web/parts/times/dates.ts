/** Dates without a time, such as due dates. */
import { shortMonthNames } from '../../../../platform/time.ts';
import { type Html, html } from '../html.ts';

/**
 * Formats a date: `3 Dec 2026`; `3 Dec` in the current year.
 * @param date and today: `YYYY-MM-DD`
 */
const formatDay = (date: string, today: string): string => {
  const [year = '', month = '', day = ''] = date.split('-');
  const short = `${Number(day)} ${shortMonthNames[Number(month) - 1] ?? ''}`;
  return today.startsWith(`${year}-`) ? short : `${short} ${year}`;
};

/** Renders a date. @param date and today: `YYYY-MM-DD` */
export const dayPart = (date: string, today: string): Html =>
  html`<time datetime="${date}">${formatDay(date, today)}</time>`;
