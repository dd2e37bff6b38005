/** Makes PostgreSQL plan as for large tables, without their rows. */
import type pg from 'pg';

const rows = 100_000;

/** Columns with few values, and columns that are mostly null. */
const fewValues =
  /^(?:state|status|kind|visibility|system|confidential|archived|tag|target_type|source_type|action|type|ghost|admin)$/;
const mostlyNull = /^(?:deleted_at|moved_to_id|archived_at)$/;

type Column = { table: string; name: string };

const describe = ({ name }: Column): { nulls: number; distinct: number } => {
  if (mostlyNull.test(name)) return { nulls: 0.99, distinct: 1_000 };
  if (fewValues.test(name)) return { nulls: 0, distinct: 3 };
  return name.endsWith('_id') ? { nulls: 0.1, distinct: -0.2 } : { nulls: 0, distinct: -0.5 };
};

/**
 * Plants the statistics of many rows in each table of the search path that has a page.
 * @returns the names of these tables
 */
export const plantStatistics = async (client: pg.Client): Promise<Set<string>> => {
  const { rows: filled } = await client.query<{ name: string; pages: number }>(
    `select relname as name, pg_relation_size(oid) / current_setting('block_size')::int as pages from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0`,
  );
  const names = filled.map(({ name }) => name);
  await client.query(
    `select pg_restore_relation_stats('schemaname', current_schema()::text, 'relname', relname::text,
        'relpages', (pg_relation_size(oid) / current_setting('block_size')::int)::int, 'reltuples', ${rows}::real)
      from pg_class where oid in (select oid from pg_class where relname = any($1)
        union select indexrelid from pg_index where indrelid in (
          select oid from pg_class where relname = any($1) and relnamespace = current_schema()::regnamespace))
      and relnamespace = current_schema()::regnamespace`,
    [names],
  );
  const { rows: columns } = await client.query<Column>(
    `select table_name as table, column_name as name from information_schema.columns
      where table_schema = current_schema() and table_name = any($1)`,
    [names],
  );
  // What an earlier analysis of the few rows has found.
  await client.query(
    `select pg_clear_attribute_stats(current_schema()::text, table_name, column_name, false)
      from information_schema.columns where table_schema = current_schema() and table_name = any($1)`,
    [names],
  );
  const stats = columns.map((column) => ({ ...column, ...describe(column) }));
  await client.query(
    `select pg_restore_attribute_stats('schemaname', current_schema()::text, 'relname', s.table,
        'attname', s.name, 'inherited', false, 'null_frac', s.nulls, 'avg_width', 8, 'n_distinct', s.distinct)
      from json_to_recordset($1::json) as s ("table" text, name text, nulls real, "distinct" real)`,
    [JSON.stringify(stats)],
  );
  return new Set(names);
};
