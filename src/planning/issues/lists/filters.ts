/** Filters that lists of issues have and lists of merge requests do not. */
import { type RawBuilder, sql } from 'kysely';
import { boolean, oneOf, optional, unsupportedFilter } from '../../../platform/http/schema.ts';
import { type Filters as SharedFilters, sharedFilterParams } from '../../issuables/lists/filter_params.ts';
import type { ListRequester } from '../../issuables/lists/list_kind.ts';
import { issueOrderNames } from '../../issuables/lists/record_kinds.ts';
import { milestoneIdWords } from '../../issuables/lists/milestone_wildcards.ts';
import { type DueWord, dueCondition, dueWords } from './due_filter.ts';

/** Kinds of work item that clients filter by. Every record here is an issue, so the other kinds match nothing. */
const issueTypes = [
  'issue',
  'incident',
  'test_case',
  'requirement',
  'task',
  'objective',
  'key_result',
  'epic',
  'ticket',
] as const;

/** Issues have neither epics, health, iterations nor weights. */
const noValue = ['none'];

export const filterParams = {
  state: oneOf(['opened', 'closed', 'all'], { default: 'all', description: 'default: all' }),
  ...sharedFilterParams,
  order_by: oneOf(issueOrderNames, { default: 'created_at' }),
  confidential: optional(boolean()),
  issue_type: optional(oneOf(issueTypes, { description: 'values other than issue match nothing' })),
  milestone_id: optional(oneOf(milestoneIdWords, { description: 'same values as `milestone`' })),
  epic_id: unsupportedFilter(noValue),
  health_status: unsupportedFilter(noValue),
  iteration_id: unsupportedFilter(noValue),
  iteration_title: unsupportedFilter(),
  weight: unsupportedFilter(noValue),
  due_date: optional(oneOf(dueWords, { description: 'due date of issues; 0: no due date' })),
};

export type Filters = SharedFilters & {
  state: 'opened' | 'closed' | 'all';
  confidential?: boolean;
  due_date?: DueWord;
  issue_type?: (typeof issueTypes)[number];
};

/** @param today `YYYY-MM-DD` */
export const issueConditions = (
  { confidential, due_date, issue_type = 'issue' }: Filters,
  { today }: Pick<ListRequester, 'today'>,
): RawBuilder<boolean>[] => [
  ...(issue_type === 'issue' ? [] : [sql<boolean>`1 = 0`]),
  ...(confidential === undefined ? [] : [sql<boolean>`issues.confidential = ${confidential ? 1 : 0}`]),
  ...(due_date === undefined ? [] : [dueCondition(due_date, today)]),
];
