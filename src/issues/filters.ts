/** What the lists of issues select by, beside what all lists do. */
import { type RawBuilder, sql } from 'kysely';
import { boolean, oneOf, optional } from '../http/schema.ts';
import { type Filters as SharedFilters, sharedFilterParams } from '../issuables/filters.ts';
import { type DueWord, dueCondition, dueWords } from './due.ts';

export const filterParams = {
  state: oneOf(['opened', 'closed', 'all'], { default: 'all', description: 'all by default' }),
  ...sharedFilterParams,
  confidential: optional(boolean()),
  due_date: optional(oneOf(dueWords, { description: 'when issues are due; 0: those without a due date' })),
};

export type Filters = SharedFilters & {
  state: 'opened' | 'closed' | 'all';
  confidential?: boolean;
  due_date?: DueWord;
};

/** @param today `YYYY-MM-DD` */
export const ownConditions = ({ confidential, due_date }: Filters, today: string): RawBuilder<boolean>[] => [
  ...(confidential === undefined ? [] : [sql<boolean>`issues.confidential = ${confidential ? 1 : 0}`]),
  ...(due_date === undefined ? [] : [dueCondition(due_date, today)]),
];
