/** Indexes on tables in use: PostgreSQL builds them while other processes read and write. */
import { sql } from 'kysely';
import type { IndexText, MigrationText } from './ddl_keywords.ts';
import type { Reader, Store } from './open.ts';

const createIndex = ({ name, on, isUnique = false }: IndexText, how: '' | 'concurrently'): string =>
  `create${isUnique ? ' unique' : ''} index ${how} ${name} on ${on}`;

/**
 * Makes a migration that only creates indexes. PostgreSQL builds them after all other migrations, outside of a
 * transaction, unless the database is new.
 */
export const indexMigration = (name: string, indexes: readonly IndexText[]): MigrationText => ({
  name,
  statements: () => indexes.map((index) => createIndex(index, '')),
  concurrentIndexes: indexes,
});

/** Returns whether an index is complete; null if there is none. An interrupted build leaves an invalid index. */
const isValid = async (db: Reader, name: string): Promise<boolean | null> => {
  const { rows } = await sql<{ valid: boolean }>`select i.indisvalid as valid
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = current_schema()::regnamespace and c.relname = ${name}`.execute(db);
  return rows[0]?.valid ?? null;
};

/** Builds the indexes that are missing. First removes indexes that a killed process left incomplete. */
export const buildConcurrently = async (store: Store, indexes: readonly IndexText[]): Promise<void> =>
  await store.db.connection().execute(async (db) => {
    await sql`set statement_timeout = 0`.execute(db);
    try {
      for (const index of indexes) {
        const present = await isValid(db, index.name);
        if (present === true) continue;
        if (present === false) await sql`drop index concurrently ${sql.ref(index.name)}`.execute(db);
        await sql.raw(createIndex(index, 'concurrently')).execute(db);
      }
    } finally {
      await sql`reset statement_timeout`.execute(db);
    }
  });
