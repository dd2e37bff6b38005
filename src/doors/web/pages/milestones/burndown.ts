/** The burn-down chart of a milestone: its open issues by day, drawn on the server. */
import type { IssueTimes } from '../../../../planning/issues/lists/milestone_counts.ts';
import { formatTime } from '../../../../platform/time.ts';
import { type Html, html } from '../../parts/html.ts';
import { dayPart } from '../../parts/times/dates.ts';
import { daysBetween } from './progress.ts';

type Given = {
  issues: readonly IssueTimes[];
  start_date: string | null;
  due_date: string | null;
  /** `YYYY-MM-DD` */
  today: string;
};

const maxPoints = 60;
const dayMilliseconds = 86_400_000;
const [width, height] = [300, 120];

const dayOf = (time: number): string => formatTime(time).slice(0, 10);

const addDays = (day: string, days: number): string => dayOf(Date.parse(day) + days * dayMilliseconds);

/** Counts the issues that were open at the end of a day. */
const countOpen = (issues: readonly IssueTimes[], day: string): number => {
  const end = Date.parse(day) + dayMilliseconds;
  return issues.filter(
    ({ created_at, closed_at }) => created_at < end && (closed_at === null || closed_at >= end),
  ).length;
};

const last = (days: readonly string[]): string => days.toSorted().at(-1) ?? '';

/**
 * Renders the chart. Issues count from their creation, for when they were added to the milestone is not recorded.
 * @returns null without at least two days and an issue
 */
export const burndownChart = ({ issues, start_date, due_date, today }: Given): Html | null => {
  if (issues.length === 0) return null;
  const first = start_date ?? dayOf(Math.min(...issues.map(({ created_at }) => created_at)));
  const end = last([due_date ?? today, first]);
  const shownUntil = today < end ? today : end;
  const span = daysBetween(first, end);
  const days = daysBetween(first, shownUntil);
  if (span < 1 || days < 1) return null;
  const step = Math.max(1, Math.ceil(days / maxPoints));
  const at = Array.from({ length: Math.floor(days / step) + 1 }, (_, index) => index * step);
  if (at.at(-1) !== days) at.push(days);
  const counts = at.map((day) => ({ day, open: countOpen(issues, addDays(first, day)) }));
  const most = Math.max(1, ...counts.map(({ open }) => open));
  const x = (day: number): string => ((day / span) * width).toFixed(1);
  const y = (open: number): string => (height - (open / most) * height).toFixed(1);
  const line = counts.map(({ day, open }) => `${x(day)},${y(open)}`).join(' ');
  const open = counts.at(-1)?.open ?? 0;
  const said = `Open issues by day: ${counts[0]?.open ?? 0} at first, at most ${most}, ${open} on ${shownUntil}`;
  return html`<figure class="chart"><svg viewBox="-4 -6 ${width + 8} ${height + 12}" role="img" aria-label="${said}">
<path class="grid" d="M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}"/>
${due_date !== null && html`<path class="ideal" d="M0 ${y(counts[0]?.open === 0 ? most : (counts[0]?.open ?? most))}L${width} ${height}"/>`}
<polyline class="line" points="${line}"/>
</svg>
<figcaption class="row between small muted"><span>${dayPart(first, today)}</span><span>${open} open of ${issues.length}</span><span>${dayPart(end, today)}</span></figcaption></figure>`;
};
