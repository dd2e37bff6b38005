/** Measures how much space the database and the files of an instance take. */
import { sql } from 'kysely';
import type { Store } from '../../platform/db/open.ts';

/** Returns about how many bytes a copy of the database as a SQLite file takes. */
export const measureDatabase = async ({ db, dialect }: Store): Promise<number> => {
  const query =
    dialect.engine === 'sqlite'
      ? sql<{
          size: number;
        }>`select page_count * page_size as size from pragma_page_count(), pragma_page_size()`
      : sql<{
          size: number;
        }>`select coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::float8 as size from pg_class
          join pg_namespace on pg_namespace.oid = relnamespace
          where nspname = current_schema() and relkind in ('r', 'p')`;
  const { rows } = await query.execute(db);
  return rows[0]?.size ?? 0;
};

/** Returns the total size of artifacts, uploads and job logs in bytes, as recorded in the database. */
export const measureFiles = async ({ db }: Store): Promise<number> => {
  const { rows } = await sql<{ size: number | string }>`select
    (select coalesce(sum(size), 0) from artifacts) + (select coalesce(sum(size), 0) from uploads)
    + (select coalesce(sum(trace_size), 0) from jobs) as size`.execute(db);
  return Number(rows[0]?.size ?? 0);
};
