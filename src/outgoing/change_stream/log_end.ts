import { sql } from 'kysely';
import type { Store } from '../../platform/db/open.ts';

export type LogEnd = {
  /** No row with this id, or a smaller one, will be added any more. */
  settled: number;
  /** The largest id in use; larger than `settled` while a transaction that may add a smaller one is open. */
  last: number;
};

/** SQLite has one writer, so rows appear in the order of their ids. */
const readSqliteEnd = async ({ db }: Store): Promise<LogEnd> => {
  const { rows } = await sql<{ last: number | null }>`select max(id) as last from events`.execute(db);
  const last = rows[0]?.last ?? 0;
  return { settled: last, last };
};

/**
 * PostgreSQL gives out ids in one order and commits in another. Each transaction holds a lock named after the last id
 * before its own (`hold_event_ids`), so the ids up to the smallest of these locks are settled. The sequence is read
 * first: a transaction that ends in between has committed before the rows are read.
 */
const readPostgresEnd = async ({ db }: Store): Promise<LogEnd> => {
  const sequence = await sql<{ last: number }>`
    select case when is_called then last_value else 0 end as last from events_id_seq`.execute(db);
  const last = sequence.rows[0]?.last ?? 0;
  const locks = await sql<{ held: number | null }>`
    select min(objid::bigint) as held from pg_locks
    where locktype = 'advisory' and objsubid = 2
      and database = (select oid from pg_database where datname = current_database())
      and classid::bigint = hashtext(current_schema() || '.events')::bigint & 4294967295`.execute(db);
  const held = locks.rows[0]?.held ?? null;
  return { settled: held === null ? last : Math.min(last, held), last };
};

/** Returns how far the change log can be read without missing a row. Reads after it see all rows up to there. */
export const readLogEnd = async (store: Store): Promise<LogEnd> =>
  await (store.dialect.engine === 'sqlite' ? readSqliteEnd : readPostgresEnd)(store);
