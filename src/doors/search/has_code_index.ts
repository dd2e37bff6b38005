import { sql } from 'kysely';
import type { Store } from '../../platform/db/open.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';

const indexStates = memoizePerStore((): { exists: boolean } => ({ exists: false }));

/** Returns whether the database has an index of code: SQLite always, PostgreSQL with the extension `pg_trgm`. */
export const hasCodeIndex = async (store: Store): Promise<boolean> => {
  if (store.dialect.engine === 'sqlite') return true;
  const index = indexStates(store);
  if (index.exists) return true;
  const { rows } = await sql`select 1 from pg_indexes
    where schemaname = current_schema() and indexname = 'code_files_trigrams'`.execute(store.db);
  index.exists = rows.length > 0;
  return index.exists;
};
