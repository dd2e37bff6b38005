/** Counts the records of a board's columns in one statement. */
import { type RawBuilder, sql } from 'kysely';
import type { RecordIds } from './filter_params.ts';
import { type Listed, column } from './record_kinds.ts';

/** `rest` counts what is in no column; its id is 0. */
export type ColumnCount = { kind: 'label' | 'assignee' | 'milestone' | 'rest'; id: number; total: number };

/** Meaning of the columns, and whether records in no column are counted too. */
export type Columns = { ids: RecordIds; hasRest: boolean };

type Selected = { tables: RawBuilder<unknown>; where: RawBuilder<boolean> };

type Part = { counted: RawBuilder<unknown>; isIn: RawBuilder<boolean> };

/** A kind of columns: the statement that counts them, and the condition of a record that is in one. */
const linkedPart = (
  kind: Listed,
  { name, table, id, ids }: { name: string; table: string; id: string; ids: readonly number[] },
): Part[] => {
  if (ids.length === 0) return [];
  const [links, linked] = [sql.table(table), sql.ref(`${table}.${id}`)];
  const on = sql`${sql.ref(`${table}.target_type`)} = ${sql.lit(kind.type)}
    and ${sql.ref(`${table}.target_id`)} = listed.id and ${linked} in (${sql.join(ids)})`;
  return [
    {
      counted: sql`select ${sql.lit(name)} as kind, ${linked} as id, count(*) as total
        from listed cross join ${links} where ${on} group by ${linked}`,
      isIn: sql`exists (select 1 from ${links} where ${on})`,
    },
  ];
};

const milestonePart = (ids: readonly number[]): Part[] => {
  if (ids.length === 0) return [];
  const isIn = sql<boolean>`coalesce(listed.milestone_id, 0) in (${sql.join(ids)})`;
  return [
    {
      counted: sql`select 'milestone' as kind, milestone_id as id, count(*) as total
        from listed where ${isIn} group by milestone_id`,
      isIn,
    },
  ];
};

/** Counts by label in one pass over the records, for boards that have lists of labels only, as most have. */
const labelCounts = (kind: Listed, ids: readonly number[]): RawBuilder<unknown> =>
  sql`select case when label_links.label_id is null then 'rest' else 'label' end as kind,
      coalesce(label_links.label_id, 0) as id, count(*) as total
    from listed left join label_links on label_links.target_type = ${sql.lit(kind.type)}
      and label_links.target_id = listed.id and label_links.label_id in (${sql.join(ids)})
    group by label_links.label_id`;

/** Counts the records of each column, among the records that a list selects. A record counts in each of its columns. */
export const columnCounts = (
  kind: Listed,
  { tables, where }: Selected,
  { label_ids, assignee_ids, milestone_ids }: RecordIds,
): RawBuilder<ColumnCount> => {
  const parts = [
    ...linkedPart(kind, { name: 'label', table: 'label_links', id: 'label_id', ids: label_ids }),
    ...linkedPart(kind, { name: 'assignee', table: 'assignees', id: 'user_id', ids: assignee_ids }),
    ...milestonePart(milestone_ids),
  ];
  const unmatched = sql`select 'rest' as kind, 0 as id, count(*) as total from listed${
    parts.length > 0
      ? sql` where not (${sql.join(
          parts.map(({ isIn }) => isIn),
          sql` or `,
        )})`
      : sql``
  }`;
  const isOfLabels = label_ids.length > 0 && parts.length === 1;
  const counted = isOfLabels
    ? labelCounts(kind, label_ids)
    : sql.join([...parts.map((part) => part.counted), unmatched], sql` union all `);
  // The milestone is not in the indexes that lead a count.
  const milestone = milestone_ids.length > 0 ? sql`, ${column(kind, 'milestone_id')} as milestone_id` : sql``;
  return sql<ColumnCount>`with listed as (
      select ${column(kind, 'id')} as id${milestone} from ${tables} where ${where}
    ) ${counted}`;
};
