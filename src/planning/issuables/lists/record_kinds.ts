/** The two kinds of records that are listed, in the store's terms: names are code, never input. */
import { type RawBuilder, sql } from 'kysely';
import type { TargetType } from '../../../platform/db/schema/column_types.ts';

export type Listed = {
  type: TargetType;
  /** Indexes begin with its name: `issues_created`, `merge_requests_created`. */
  table: 'issues' | 'merge_requests';
};

/** A column of the kind's own table. */
export const column = ({ table }: Listed, name: string): RawBuilder<never> => sql.raw(`${table}.${name}`);

/** Returns a table of links, with the condition that selects the links of the listed record. */
export const linkCondition = (
  kind: Listed,
  table: 'label_links' | 'assignees' | 'reviewers',
): RawBuilder<unknown> =>
  sql.raw(`${table} where ${table}.target_type = '${kind.type}' and ${table}.target_id = ${kind.table}.id`);

/**
 * Distance of the positions of two issues that were created one after the other. Leaves room for positions in between.
 */
export const positionSpacing = 2 ** 20;

/** Over `issues`: the position in lists that are ordered by hand. Equal to the expression of the indexes. */
export const issuePosition: RawBuilder<number> = sql.raw(
  `coalesce(issues.relative_position, issues.id * ${positionSpacing})`,
);

/** Orders that an index of every place and state has. */
const indexedOrders = ['created_at', 'updated_at', 'relative_position'] as const;
/** Orders that only issues, only merge requests, and both have. */
const sharedOrders = ['label_priority', 'milestone_due', 'popularity', 'priority', 'title'] as const;

/** Issues have no weights here: this order is the order of creation. */
export const issueOrderNames = [...indexedOrders, ...sharedOrders, 'due_date', 'weight'] as const;
export const requestOrderNames = ['created_at', 'updated_at', ...sharedOrders, 'merged_at'] as const;
export type OrderName = (typeof issueOrderNames)[number] | (typeof requestOrderNames)[number];

export type ListOrder = { order_by: OrderName; sort: 'asc' | 'desc' };

/** Sorts records without a due date last in ascending order. The expression of the index has the same text. */
const noDay = '9999-99-99';

const milestoneDay = ({ table }: Listed, none: string): RawBuilder<unknown> =>
  sql`coalesce((select milestones.due_date from milestones where milestones.id = ${sql.raw(table)}.milestone_id), ${sql.lit(none)})`;

/** The highest priority of the labels of a record. 0 is the highest. */
const labelPriority = (kind: Listed, none: number): RawBuilder<unknown> =>
  sql`coalesce((select min(labels.priority) from label_links cross join labels
    where label_links.target_type = ${sql.lit(kind.type)} and label_links.target_id = ${column(kind, 'id')}
      and labels.id = label_links.label_id), ${sql.lit(none)})`;

type Term = (kind: Listed, isAscending: boolean) => RawBuilder<unknown>[];

const own =
  (name: string): Term =>
  (kind, isAscending) => [isAscending ? column(kind, name) : sql`${column(kind, name)} desc`];

/** Records without a value are last in both directions. */
const milestoneTerm: Term = (kind, isAscending) => [
  isAscending ? milestoneDay(kind, noDay) : sql`${milestoneDay(kind, '')} desc`,
];
const priorityTerm: Term = (kind, isAscending) => [
  isAscending ? labelPriority(kind, 2 ** 31) : sql`${labelPriority(kind, -1)} desc`,
];

const dueDay = sql.raw(`coalesce(issues.due_date, '${noDay}')`);
const mergeTime = sql.raw('coalesce(merge_requests.merged_at, 0)');
const lowerTitle = ({ table }: Listed): RawBuilder<unknown> => sql.raw(`lower(${table}.title)`);

/** Sort expressions before the ids. */
const terms: Readonly<Record<OrderName, Term>> = {
  created_at: own('created_at'),
  weight: own('created_at'),
  updated_at: own('updated_at'),
  relative_position: (_kind, isAscending) => [isAscending ? issuePosition : sql`${issuePosition} desc`],
  popularity: own('upvotes'),
  title: (kind, isAscending) => [isAscending ? lowerTitle(kind) : sql`${lowerTitle(kind)} desc`],
  due_date: (_kind, isAscending) =>
    isAscending ? [dueDay] : [sql`case when issues.due_date is null then 1 else 0 end`, sql`${dueDay} desc`],
  merged_at: (_kind, isAscending) =>
    isAscending ? [sql`case when ${mergeTime} = 0 then 1 else 0 end`, mergeTime] : [sql`${mergeTime} desc`],
  milestone_due: milestoneTerm,
  label_priority: priorityTerm,
  priority: (kind, isAscending) => [...milestoneTerm(kind, isAscending), ...priorityTerm(kind, isAscending)],
};

/** Orders in which many records are equal: among these, the newest come first. */
const newestAmongEqual = new Set<OrderName>(['due_date', 'milestone_due', 'label_priority', 'priority']);

/** Over the kind's own table: the terms of an order, with their directions. */
export const orderTerms = (kind: Listed, { order_by, sort }: ListOrder): RawBuilder<unknown>[] => {
  const isAscending = sort === 'asc';
  const isIdAscending = isAscending && !newestAmongEqual.has(order_by);
  const id = column(kind, 'id');
  return [...terms[order_by](kind, isAscending), isIdAscending ? id : sql`${id} desc`];
};

/** @property isSorted the index only has what is sorted; absent: it has the order */
type OrderIndex = { word: string; isSorted?: true };

/**
 * Returns the index that an order of one project reads: it covers the order and the usual filters. Records are read
 * only from the index. Orders that no index can have, because they depend on milestones and labels, therefore sort
 * 100,000 records of a project in some hundred milliseconds, in a worker thread, once per change of the project. Null:
 * an index has the order in every scope and state.
 */
export const findOrderIndex = ({ order_by, sort }: ListOrder): OrderIndex | null => {
  switch (order_by) {
    case 'title':
      return { word: 'title' };
    case 'popularity':
      return { word: 'upvotes' };
    case 'due_date':
      return { word: 'due_day', ...(sort === 'desc' && { isSorted: true }) };
    case 'merged_at':
      return { word: 'merged', ...(sort === 'asc' && { isSorted: true }) };
    case 'milestone_due':
    case 'label_priority':
    case 'priority':
      return { word: 'upvotes', isSorted: true };
    default:
      return null;
  }
};
