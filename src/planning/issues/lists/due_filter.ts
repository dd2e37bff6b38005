/** The list filter `due_date`. */
import { type RawBuilder, sql } from 'kysely';
import type { IndexedCondition } from '../../issuables/lists/named_filters.ts';

export const dueWords = [
  '0',
  'any',
  'today',
  'tomorrow',
  'overdue',
  'week',
  'month',
  'next_month_and_previous_two_weeks',
] as const;

export type DueWord = (typeof dueWords)[number];

/** Adds days to a date; `YYYY-MM-DD`. */
const plus = (day: string, days: number): string => {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
};

/** Returns the last day of the month `months` later. */
const monthEnd = (day: string, months: number): string => {
  const date = new Date(`${day}T00:00:00Z`);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months + 1, 0))
    .toISOString()
    .slice(0, 10);
};

/** First and last day of the period; weeks begin on Monday. */
const toPeriod = (word: DueWord, today: string): [first: string, last: string] | null => {
  const weekday = (new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7;
  switch (word) {
    case 'today':
      return [today, today];
    case 'tomorrow':
      return [plus(today, 1), plus(today, 1)];
    case 'week':
      return [plus(today, -weekday), plus(today, 6 - weekday)];
    case 'month':
      return [`${today.slice(0, 8)}01`, monthEnd(today, 0)];
    case 'next_month_and_previous_two_weeks':
      return [plus(today, -14), monthEnd(today, 1)];
    case 'overdue':
      return ['0000-01-01', plus(today, -1)];
    default:
      return null;
  }
};

/** @param today `YYYY-MM-DD` */
export const dueCondition = (word: DueWord, today: string): RawBuilder<boolean> => {
  const period = toPeriod(word, today);
  if (period !== null) return sql`(issues.due_date >= ${period[0]} and issues.due_date <= ${period[1]})`;
  return word === '0' ? sql`issues.due_date is null` : sql`issues.due_date is not null`;
};

/** The condition of the filter with its index, which has only issues that are due, project by project. */
export const indexedDue = (
  word: DueWord | undefined,
  { isInProject, today }: { isInProject: boolean; today: string },
): IndexedCondition[] =>
  word === undefined || word === '0' || !isInProject
    ? []
    : [{ name: 'due', condition: dueCondition(word, today), index: 'issues_project_due', isCovering: true }];
