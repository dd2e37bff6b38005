/** Counts the records of a board's columns in one statement. */
import { type RawBuilder, sql } from 'kysely';
import type { SqlDialect } from '../../../platform/db/engine.ts';
import type { RecordIds } from './filters.ts';
import { type Listed, column } from './record_kinds.ts';

/** `rest` counts what is in no column; its id is 0. */
export type ColumnCount = { kind: 'label' | 'assignee' | 'milestone' | 'rest'; id: number; total: number };

type Selected = { tables: RawBuilder<unknown>; where: RawBuilder<boolean> };

/** Of the records that a list selects, the number of each column. A record counts in each of its columns. */
export const columnCounts = (
  kind: Listed,
  { tables, where }: Selected,
  { label_ids, assignee_ids, milestone_ids }: RecordIds,
  dialect: SqlDialect,
): RawBuilder<ColumnCount> => {
  const type = sql.lit(kind.type);
  const links = {
    label: sql`label_links.target_type = ${type} and label_links.target_id = listed.id
      and ${dialect.oneOf('label_links.label_id', label_ids)}`,
    assignee: sql`assignees.target_type = ${type} and assignees.target_id = listed.id
      and ${dialect.oneOf('assignees.user_id', assignee_ids)}`,
    milestone: dialect.oneOf('listed.milestone_id', milestone_ids),
  };
  const counted = [
    sql`select 'label' as kind, label_links.label_id as id, count(*) as total
      from listed cross join label_links where ${links.label} group by label_links.label_id`,
    sql`select 'assignee', assignees.user_id, count(*)
      from listed cross join assignees where ${links.assignee} group by assignees.user_id`,
    sql`select 'milestone', milestone_id, count(*) from listed where ${links.milestone} group by milestone_id`,
    sql`select 'rest', 0, count(*) from listed
      where not exists (select 1 from label_links where ${links.label})
        and not exists (select 1 from assignees where ${links.assignee})
        and (listed.milestone_id is null or not ${links.milestone})`,
  ];
  return sql<ColumnCount>`with listed as (
      select ${column(kind, 'id')} as id, ${column(kind, 'milestone_id')} as milestone_id from ${tables} where ${where}
    ) ${sql.join(counted, sql` union all `)}`;
};
