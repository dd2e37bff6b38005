/**
 * Parses the periods that lists are filtered by: `2026-01-31` (that day), `>2026-01-31`, `<=2026-01-31`,
 * `2026-01-01..2026-01-31`, `today`, `yesterday`, `7d` (the last seven days). Days are in UTC.
 */
import { dayMilliseconds, parseDate } from '../../../../../platform/time.ts';

/** Names of the filters by period. The API has each as two: `created_after` and `created_before`. */
export const periodNames = ['created', 'updated', 'closed', 'merged'] as const;
export type PeriodName = (typeof periodNames)[number];

/** First and last millisecond; absent: without a limit. */
export type Period = { after?: number; before?: number };

export const periodHint =
  '2026-01-31, >2026-01-31, 2026-01-01..2026-01-31, today, yesterday, or 7d, 2w, 3m, 1y';

/** The longest text of a period. */
export const maxPeriod = 200;

const startOfDay = (time: number): number => Math.floor(time / dayMilliseconds) * dayMilliseconds;

/** Goes to the same day of an earlier month, or to its last day. */
const goBackMonths = (date: Date, count: number): void => {
  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() - count, 1);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
};

/** Returns the start of the day some units earlier; null: before the first accepted year. */
const goBack = (now: number, count: number, unit: string): number | null => {
  const date = new Date(startOfDay(now));
  if (unit === 'd') date.setUTCDate(date.getUTCDate() - count);
  if (unit === 'w') date.setUTCDate(date.getUTCDate() - 7 * count);
  if (unit === 'm' || unit === 'y') goBackMonths(date, unit === 'y' ? 12 * count : count);
  return date.getUTCFullYear() >= 1900 ? date.getTime() : null;
};

const dayOf = (word: string, now: number): number | null => {
  if (word === 'today') return startOfDay(now);
  if (word === 'yesterday') return startOfDay(now) - dayMilliseconds;
  const day = parseDate(word);
  return day === null ? null : Date.parse(day);
};

/** Returns the first and the last millisecond of a day. */
const toDay = (word: string, now: number): Required<Period> | null => {
  const after = dayOf(word, now);
  return after === null ? null : { after, before: after + dayMilliseconds - 1 };
};

const toComparison = (sign: string, { after, before }: Required<Period>): Period => {
  if (sign === '>') return { after: before + 1 };
  if (sign === '>=') return { after };
  if (sign === '<') return { before: after - 1 };
  return sign === '<=' ? { before } : { after, before };
};

const toRange = (first: string, last: string, now: number): Period | null => {
  const from: Period | null = first === '' ? {} : toDay(first, now);
  const to: Period | null = last === '' ? {} : toDay(last, now);
  if (from === null || to === null || first + last === '') return null;
  return {
    ...(from.after !== undefined && { after: from.after }),
    ...(to.before !== undefined && { before: to.before }),
  };
};

const parseOne = (text: string, now: number): Period | null => {
  const word = text.trim().toLowerCase();
  const [, count, unit = ''] = /^(\d{1,4})([dwmy])$/.exec(word) ?? [];
  if (count !== undefined) {
    const after = goBack(now, Number(count), unit);
    return after === null ? null : { after };
  }
  const [isRange, first = '', last = ''] = /^([^.]*)\.\.([^.]*)$/.exec(word) ?? [];
  if (isRange !== undefined) return toRange(first, last, now);
  const [, sign = '', rest = ''] = /^(>=|<=|>|<)?(.*)$/.exec(word) ?? [];
  const day = toDay(rest.trim(), now);
  return day === null ? null : toComparison(sign, day);
};

/** Returns what is in both periods. */
const intersect = (a: Period, b: Period): Period => {
  const after = Math.max(a.after ?? -Infinity, b.after ?? -Infinity);
  const before = Math.min(a.before ?? Infinity, b.before ?? Infinity);
  return { ...(Number.isFinite(after) && { after }), ...(Number.isFinite(before) && { before }) };
};

/** Parses periods separated by commas, all of which apply. Returns null if one of them is invalid. */
export const parsePeriod = (text: string, now: number): Period | null => {
  let period: Period = {};
  for (const part of text.split(',')) {
    const partPeriod = parseOne(part, now);
    if (partPeriod === null) return null;
    period = intersect(period, partPeriod);
  }
  return period;
};

const units: Readonly<Record<string, string>> = { d: 'day', w: 'week', m: 'month', y: 'year' };

const signs: Readonly<Record<string, string>> = { '>': 'after', '>=': 'from', '<': 'before', '<=': 'up to' };

/** Describes a period: `after 2026-01-31`, `in the last 7 days`. */
export const periodText = (text: string): string => {
  const word = text.trim().toLowerCase();
  const [, count, unit = ''] = /^(\d{1,4})([dwmy])$/.exec(word) ?? [];
  if (count !== undefined) return `in the last ${count} ${units[unit]}${count === '1' ? '' : 's'}`;
  const [isRange, first = '', last = ''] = /^([^.]*)\.\.([^.]*)$/.exec(word) ?? [];
  if (isRange !== undefined)
    return [first && `from ${first}`, last && `up to ${last}`].filter(Boolean).join(' ');
  const [, sign = '', rest = ''] = /^(>=|<=|>|<)?(.*)$/.exec(word) ?? [];
  if (sign !== '') return `${signs[sign]} ${rest.trim()}`;
  return parseDate(word) === null ? word : `on ${word}`;
};

type Sent = Readonly<Record<string, unknown>>;

/** The periods of a query as filters of the API, and what is wrong with them. */
export type ReadPeriods = {
  filters: Record<string, number>;
  /** The valid periods as they were sent. */
  sent: Record<string, string>;
  problems: { name: PeriodName; text: string }[];
};

/** Reads the periods of a query. They limit `created_after` and its like, too. */
export const readPeriods = (query: Sent, now: number): ReadPeriods => {
  const read: ReadPeriods = { filters: {}, sent: {}, problems: [] };
  for (const name of periodNames) {
    const text = query[name];
    if (typeof text !== 'string' || text.trim() === '') continue;
    const period = parsePeriod(text, now);
    if (period === null) {
      read.problems.push({ name, text });
      continue;
    }
    const [after, before] = [query[`${name}_after`], query[`${name}_before`]];
    const { after: first, before: last } = intersect(period, {
      ...(typeof after === 'number' && { after }),
      ...(typeof before === 'number' && { before }),
    });
    read.sent[name] = text;
    if (first !== undefined) read.filters[`${name}_after`] = first;
    if (last !== undefined) read.filters[`${name}_before`] = last;
  }
  return read;
};

/** Describes what is wrong with a period. */
export const periodProblem = (name: string, text: string): string =>
  `“${text}” is not a valid date for “${name}”. Use ${periodHint}.`;
