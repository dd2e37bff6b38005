import { sql } from 'kysely';
import { StartFailure } from '../errors.ts';
import { migrationTexts } from './migrations/list.ts';
import type { Reader, Store, Tx } from './open.ts';

/** Any fixed number: services that start together on one PostgreSQL take turns. */
const lockKey = 6_781_204;

/** Names of the migrations that the database carries; null for an empty database. */
export const appliedMigrations = async (store: Store): Promise<string[] | null> => {
  const table =
    store.words.engine === 'sqlite'
      ? sql`select 1 from sqlite_schema where name = 'migrations'`
      : sql`select 1 where to_regclass('migrations') is not null`;
  const { rows } = await table.execute(store.db);
  return rows.length === 0 ? null : await appliedNames(store.db);
};

const appliedNames = async (db: Reader): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(db);
  return rows.map((row) => row.name);
};

export const pendingMigrations = (applied: string[]): string[] =>
  migrationTexts.map((migration) => migration.name).filter((name) => !applied.includes(name));

/** Brings the database to this version's schema, all in one transaction; answers the names it applied. */
export const migrate = async (store: Store): Promise<string[]> => {
  const applied = await appliedMigrations(store);
  refuseNewer(applied ?? []);
  if (applied !== null && pendingMigrations(applied).length === 0) return [];
  return await store.write(async (tx) => await applyPending(tx, store));
};

const applyPending = async (tx: Tx, store: Store): Promise<string[]> => {
  if (store.words.engine === 'postgres') await sql`select pg_advisory_xact_lock(${lockKey})`.execute(tx.db);
  const { text, integer, end } = store.ddl;
  await sql
    .raw(
      `create table if not exists migrations (name ${text} primary key, applied_at ${integer} not null) ${end}`,
    )
    .execute(tx.db);
  const pending = pendingMigrations(await appliedNames(tx.db));
  for (const migration of migrationTexts.filter(({ name }) => pending.includes(name))) {
    for (const statement of migration.statements(store.ddl)) {
      // oxlint-disable-next-line no-await-in-loop -- each statement stands on the one before
      await sql.raw(statement).execute(tx.db);
    }
    // oxlint-disable-next-line no-await-in-loop
    await sql`insert into migrations (name, applied_at) values (${migration.name}, ${tx.now})`.execute(tx.db);
  }
  return pending;
};

const refuseNewer = (applied: string[]): void => {
  const known = new Set(migrationTexts.map(({ name }) => name));
  const unknown = applied.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new StartFailure(
      `the database was written by a newer Gantry (it carries "${unknown}"): start that version, ` +
        'or restore a backup made by this one',
    );
  }
};
