/** Parts that the list and the page of milestones share: dates and progress. */
import type { IssueCounts } from '../../../../planning/issues/lists/milestone_counts.ts';
import { dayMilliseconds } from '../../../../platform/time.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { dayPart } from '../../parts/times/dates.ts';
import { spellCount } from '../../../../platform/spell_count.ts';

type Dated = { state: string; start_date: string | null; due_date: string | null };

/** Returns the days from one date to another. @param from and to: `YYYY-MM-DD` */
export const daysBetween = (from: string, to: string): number =>
  Math.round((Date.parse(to) - Date.parse(from)) / dayMilliseconds);

/** `Due in 3 days`, `Due today`, `4 days overdue` */
const spellDue = (due: string, today: string): string => {
  const days = daysBetween(today, due);
  const count = spellCount(Math.abs(days), 'day');
  if (days === 0) return 'Due today';
  return days > 0 ? `Due in ${count}` : `${count} overdue`;
};

/** Renders the dates of a milestone; the text says whether it is late. @param today `YYYY-MM-DD` */
export const datesPart = ({ state, start_date, due_date }: Dated, today: string): Html => {
  const start = start_date !== null && html`${dayPart(start_date, today)}`;
  if (due_date === null)
    return start_date === null ? html`<span>No due date</span>` : html`<span>From ${start}</span>`;
  const isLate = state === 'active' && due_date < today;
  const words =
    state === 'active' &&
    html`<span class="status ${isLate ? 'bad' : 'off'}">${isLate && icon('clock')} ${spellDue(due_date, today)}</span>`;
  return html`<span>${start_date === null ? 'Until' : html`${start} –`} ${dayPart(due_date, today)}</span>${words}`;
};

/** `3 of 8 issues closed` */
export const spellProgress = ({ opened, closed }: IssueCounts): string => {
  const total = opened + closed;
  if (total === 0) return 'No issues';
  return `${closed} of ${spellCount(total, 'issue')} closed`;
};

/** Renders the share of closed issues as a bar; its text is next to it. */
export const progressBar = ({ opened, closed }: IssueCounts): Html => {
  const percent = opened + closed === 0 ? 0 : Math.round((closed / (opened + closed)) * 100);
  return html`<svg class="bar done" aria-hidden="true"><rect width="${percent}%" height="100%"/></svg>`;
};
