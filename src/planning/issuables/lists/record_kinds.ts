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

/** Returns a table of links, with the condition that selects those of the listed record. */
export const linkCondition = (
  kind: Listed,
  table: 'label_links' | 'assignees' | 'reviewers',
): RawBuilder<unknown> =>
  sql.raw(`${table} where ${table}.target_type = '${kind.type}' and ${table}.target_id = ${kind.table}.id`);

/** Distance of the positions of two issues that were created one after the other. Leaves room for those between. */
export const positionSpacing = 2 ** 20;

/** Over `issues`: the position in lists that are ordered by hand. Equal to the expression of the indexes. */
export const issuePosition: RawBuilder<number> = sql.raw(
  `coalesce(issues.relative_position, issues.id * ${positionSpacing})`,
);

/** The columns that lists are ordered by. */
export const orderNames = ['created_at', 'updated_at', 'relative_position'] as const;
export type OrderName = (typeof orderNames)[number];

/** Over the kind's own table: what a list is ordered by. Only issues have positions. */
export const orderColumn = (kind: Listed, name: OrderName): RawBuilder<unknown> =>
  name === 'relative_position' ? issuePosition : column(kind, name);
