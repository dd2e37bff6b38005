/**
 * The filters of a list as chips: each is one parameter of the address with one value, named as in the API. Chips make
 * the address of the list, and of the list without one of them.
 */
import { formatTime } from '../../../../../platform/time.ts';
import { periodNames, periodText } from './periods.ts';

/** `not[labels]` is the name of a chip that excludes a label. */
export type Chip = { name: string; value: string };

/** Parameters whose values are names separated by commas: each is a chip. */
const lists = new Set([
  'labels',
  'assignee_username',
  'approved_by_usernames',
  'iids',
  'in',
  'created',
  'updated',
  'closed',
  'merged',
  'not[labels]',
  'not[assignee_username]',
  'not[author_username]',
  'not[reviewer_username]',
  'not[iids]',
  'not[in]',
]);

const times = new Set([
  'created_after',
  'created_before',
  'updated_after',
  'updated_before',
  'closed_after',
  'closed_before',
  'merged_after',
  'merged_before',
  'deployed_after',
  'deployed_before',
]);

/** Filters of issues and merge requests in the order of their chips. */
const names = [
  'scope',
  'project_path',
  'labels',
  'milestone',
  'milestone_id',
  'assignee_username',
  'assignee_id',
  'author_username',
  'author_id',
  'reviewer_username',
  'reviewer_id',
  'my_review',
  'draft',
  'wip',
  'approved',
  'approved_by_usernames',
  'approved_by_ids',
  'source_branch',
  'target_branch',
  'environment',
  'deployed_after',
  'deployed_before',
  'due_date',
  'confidential',
  'my_reaction_emoji',
  'iids',
  'issue_type',
  'created',
  'created_after',
  'created_before',
  'updated',
  'updated_after',
  'updated_before',
  'closed',
  'closed_after',
  'closed_before',
  'merged',
  'merged_after',
  'merged_before',
  'non_archived',
  'search',
  'in',
];

/** Excluding filters. The list refuses others. */
const excludable = [
  'labels',
  'milestone',
  'assignee_username',
  'assignee_id',
  'author_username',
  'author_id',
  'reviewer_username',
  'reviewer_id',
  'my_reaction_emoji',
  'iids',
  'search',
  'in',
];

/** Filters with alternatives. */
const alternatives = ['labels', 'author_username', 'assignee_username', 'reviewer_username'];

const words: Readonly<Record<string, string>> = {
  project_path: 'project',
  labels: 'label',
  assignee_username: 'assignee',
  assignee_id: 'assignee',
  author_username: 'author',
  author_id: 'author',
  reviewer_username: 'reviewer',
  reviewer_id: 'reviewer',
  my_review: 'review',
  approved_by_usernames: 'approved by',
  approved_by_ids: 'approved by',
  source_branch: 'source',
  target_branch: 'target',
  wip: 'draft',
  milestone_id: 'milestone',
  due_date: 'due',
  my_reaction_emoji: 'reaction',
  search: 'text',
  in: 'search in',
  iids: 'number',
  issue_type: 'type',
};

const shownValues: Readonly<Record<string, string>> = {
  'due_date 0': 'none',
  'due_date week': 'this week',
  'due_date month': 'this month',
  'due_date next_month_and_previous_two_weeks': 'next month and previous two weeks',
  'confidential true': 'yes',
  'confidential false': 'no',
  'draft true': 'yes',
  'draft false': 'no',
  'my_review waiting': 'waiting for me',
  'my_review returned': 'returned to me',
  'scope all': 'everybody',
  'scope reviews-for-me': 'to be reviewed by me',
  'scope created-by-me': 'created by me',
  'scope assigned-to-me': 'assigned to me',
};

/** Returns the text of a chip: `label = bug`, `milestone ≠ 1.5`. */
export const chipText = ({ name, value }: Chip): string => {
  if (periodNames.some((one) => one === name)) return `${name} ${periodText(value)}`;
  const [, any] = /^or\[(\w+)\]$/.exec(name) ?? [];
  if (any !== undefined) return `${words[any] ?? any} = ${value.split(',').join(' or ')}`;
  const [, excluded] = /^not\[(\w+)\]$/.exec(name) ?? [];
  const of = excluded ?? name;
  const shown = shownValues[`${of} ${value}`] ?? value;
  return `${words[of] ?? of.replaceAll('_', ' ')} ${excluded === undefined ? '=' : '≠'} ${shown}`;
};

const toText = (name: string, value: unknown): string => {
  if (times.has(name) && typeof value === 'number') return formatTime(value);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).trim()
    : '';
};

const chipsOf = (name: string, value: unknown): Chip[] => {
  const parts: unknown[] = Array.isArray(value)
    ? value
    : lists.has(name) && typeof value === 'string'
      ? value.split(',')
      : [value];
  return parts.map((part) => ({ name, value: toText(name, part) })).filter((chip) => chip.value !== '');
};

const partsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Returns a chip of all alternatives. */
const alternativesOf = (name: string, value: unknown): Chip[] => {
  const alternatives = Array.isArray(value) ? value.map(String).join(',') : toText(name, value);
  return alternatives === '' ? [] : [{ name: `or[${name}]`, value: alternatives }];
};

/** Returns the chips of parsed parameters. */
export const toChips = (filters: Readonly<Record<string, unknown>>): Chip[] => {
  const [excluded, any] = [partsOf(filters['not']), partsOf(filters['or'])];
  return [
    ...names.flatMap((name) => chipsOf(name, filters[name])),
    ...alternatives.flatMap((name) => alternativesOf(name, any[name])),
    ...excludable.flatMap((name) => chipsOf(`not[${name}]`, excluded[name])),
  ];
};

/** Returns the values by parameter, as an address has them. */
const groupByName = (chips: readonly Chip[]): Map<string, string> => {
  const values = new Map<string, string>();
  for (const { name, value } of chips) {
    const before = values.get(name);
    const joint = name === 'search' || name === 'not[search]' ? ' ' : ',';
    const isMore = before !== undefined && (lists.has(name) || joint === ' ');
    values.set(name, isMore ? before + joint + value : value);
  }
  return values;
};

/** Parameters of an address, in order; undefined: absent. */
export type AddressQuery = Readonly<Record<string, string | undefined>>;

/** Returns the parameters of a list with these filters. */
export const chipQuery = (chips: readonly Chip[]): Record<string, string> =>
  Object.fromEntries(groupByName(chips));

/** Returns an address with these parameters. */
export const addressOf = (path: string, query: AddressQuery): string => {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs).toString()}`;
};
