/** The burn-down and burn-up charts of a milestone, drawn on the server, and the same numbers as a table. */
import {
  type DayChange,
  type MilestoneCounts,
  countAt,
} from '../../../../planning/issues/lists/milestone_history.ts';
import { dayMilliseconds, formatTime } from '../../../../platform/time.ts';
import { type Html, html } from '../../parts/html.ts';
import { dayPart } from '../../parts/times/dates.ts';
import { daysBetween } from './dates_and_progress.ts';

type ProgressHistory = {
  changes: readonly DayChange[];
  start_date: string | null;
  due_date: string | null;
  /** `YYYY-MM-DD` */
  today: string;
};

type Point = MilestoneCounts & {
  /** Days since the first. */
  day: number;
  date: string;
};

/** The days of a chart with their numbers. */
type Series = {
  points: readonly Point[];
  /** Days of the whole chart; the points may end before it does. */
  span: number;
  first: string;
  end: string;
  due_date: string | null;
  today: string;
};

const maxPoints = 60;
const [width, height] = [300, 120];

const dayOf = (time: number): string => formatTime(time).slice(0, 10);

const addDays = (day: string, days: number): string => dayOf(Date.parse(day) + days * dayMilliseconds);

/** Counts at the end of each day, or of each few days; null without at least two days and an issue. */
const toSeries = ({ changes, start_date, due_date, today }: ProgressHistory): Series | null => {
  // The first change is that an issue came in.
  const [entry] = changes;
  if (entry === undefined) return null;
  const first = start_date ?? dayOf(entry.day * dayMilliseconds);
  const end = [due_date ?? today, first].toSorted().at(-1) ?? first;
  const span = daysBetween(first, end);
  const days = daysBetween(first, today < end ? today : end);
  if (span < 1 || days < 1) return null;
  const step = Math.ceil(days / maxPoints);
  const shown = Array.from({ length: Math.floor(days / step) + 1 }, (_none, index) => index * step);
  if (shown.at(-1) !== days) shown.push(days);
  const points = shown.map((day) => {
    const date = addDays(first, day);
    return { day, date, ...countAt(changes, Date.parse(date) / dayMilliseconds) };
  });
  return { points, span, first, end, due_date, today };
};

type Scale = { x: (day: number) => string; y: (count: number) => string };

const scaleOf = ({ points, span }: Series): Scale => {
  const most = Math.max(1, ...points.map(({ total }) => total));
  return {
    x: (day) => ((day / span) * width).toFixed(1),
    y: (count) => (height - (count / most) * height).toFixed(1),
  };
};

const lineOf = (points: readonly Point[], { x, y }: Scale, valueOf: (point: Point) => number): string =>
  points.map((point) => `${x(point.day)},${y(valueOf(point))}`).join(' ');

/** Renders a chart. @param said text alternative for screen readers */
const figure = ({ first, end, today }: Series, said: string, lines: Html, summary: string): Html =>
  html`<figure class="chart"><svg viewBox="-4 -6 ${width + 8} ${height + 12}" role="img" aria-label="${said}">
<path class="grid" d="M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}"/>
${lines}
</svg>
<figcaption class="row between small muted"><span>${dayPart(first, today)}</span><span>${summary}</span><span>${dayPart(end, today)}</span></figcaption></figure>`;

const burndown = (series: Series, now: Point): Html => {
  const { points, due_date } = series;
  const scale = scaleOf(series);
  const [first] = points;
  // If issues were added later, from the most that were open.
  const start = (first?.open ?? 0) || Math.max(...points.map(({ open }) => open));
  const ideal = `M0 ${scale.y(start)}L${width} ${height}`;
  return figure(
    series,
    `Open issues by day: ${points[0]?.open ?? 0} at first, ${now.open} on ${now.date}`,
    html`${due_date !== null && html`<path class="ideal" d="${ideal}"/>`}<polyline class="line" points="${lineOf(points, scale, ({ open }) => open)}"/>`,
    `${now.open} open of ${now.total}`,
  );
};

const burnup = (series: Series, now: Point): Html => {
  const { points } = series;
  const scale = scaleOf(series);
  return figure(
    series,
    `Issues by day: ${points[0]?.total ?? 0} in all at first, ${now.total - now.open} closed of ${now.total} on ${now.date}`,
    html`<polyline class="line total" points="${lineOf(points, scale, ({ total }) => total)}"/><polyline class="line done" points="${lineOf(points, scale, ({ total, open }) => total - open)}"/>`,
    `${now.total - now.open} closed of ${now.total}`,
  );
};

const table = ({ points }: Series): Html =>
  html`<details><summary>Show as a table</summary><div class="wide" tabindex="0" role="region" aria-label="Issues by day"><table>
<thead><tr><th scope="col">Day</th><th scope="col">Open</th><th scope="col">Closed</th><th scope="col">All</th></tr></thead>
<tbody>${points.map(
    ({ date, open, total }) =>
      html`<tr><th scope="row">${date}</th><td>${open}</td><td>${total - open}</td><td>${total}</td></tr>
`,
  )}</tbody></table></div></details>`;

/** Renders both charts and the table; null without at least two days and an issue. */
export const progressCharts = (history: ProgressHistory): Html | null => {
  const series = toSeries(history);
  const now = series?.points.at(-1);
  if (series === null || now === undefined) return null;
  return html`<section><h2>Burn-down</h2>${burndown(series, now)}</section>
<section><h2>Burn-up</h2>${burnup(series, now)}${table(series)}</section>`;
};
