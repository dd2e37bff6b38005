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

/** What links the kind's records with others: a table and the condition that it is of the record at hand. */
export const linkCondition = (
  kind: Listed,
  table: 'label_links' | 'assignees' | 'reviewers',
): RawBuilder<unknown> =>
  sql.raw(`${table} where ${table}.target_type = '${kind.type}' and ${table}.target_id = ${kind.table}.id`);
