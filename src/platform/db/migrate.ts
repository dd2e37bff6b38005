import { sql } from 'kysely';
import { StartFailure } from '../errors.ts';
import type { MigrationText } from './ddl_keywords.ts';
import { migrationTexts } from './migrations/list.ts';
import type { Reader, Store, Tx } from './open.ts';

/** Advisory lock number; services that start together on one PostgreSQL migrate one after another. */
const lockKey = 6_781_204;

/** Lists the migrations applied to the database; null for an empty database. */
export const appliedMigrations = async (store: Store): Promise<string[] | null> => {
  const table =
    store.dialect.engine === 'sqlite'
      ? sql`select 1 from sqlite_schema where name = 'migrations'`
      : sql`select 1 from pg_tables where schemaname = current_schema() and tablename = 'migrations'`;
  const { rows } = await table.execute(store.db);
  return rows.length === 0 ? null : await appliedNames(store.db);
};

const appliedNames = async (db: Reader): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(db);
  return rows.map((row) => row.name);
};

const toNames = (texts: readonly MigrationText[]): string[] => texts.map(({ name }) => name);

export const pendingMigrations = (
  applied: string[],
  texts: readonly MigrationText[] = migrationTexts,
): string[] => toNames(texts).filter((name) => !applied.includes(name));

/** Receives the name of a migration that was applied, and the milliseconds that it took. */
export type OnApplied = (name: string, milliseconds: number) => void;

/** Returns the migrations that a database of an earlier version has. */
export const selectApplied = (applied: readonly string[]): MigrationText[] =>
  migrationTexts.filter(({ name }) => applied.includes(name));

/**
 * Migrates the database to this version's schema in one transaction. Returns the names of applied migrations.
 * @param texts other migrations, for tests
 * @param within runs in the same transaction after the migration; if it fails, nothing is changed
 * @param onApplied called after each migration
 * @throws StartFailure for a database of a newer version, which stays unchanged
 */
export const migrate = async (
  store: Store,
  texts: readonly MigrationText[] = migrationTexts,
  within?: (tx: Tx) => Promise<void>,
  onApplied?: OnApplied,
): Promise<string[]> => {
  const applied = (await appliedMigrations(store)) ?? [];
  refuseNewer(applied, texts);
  const isCurrent = pendingMigrations(applied, texts).length === 0;
  if (isCurrent && within === undefined) return [];
  return await store.write(async (tx) => {
    const names = isCurrent ? [] : await applyPending(tx, store, texts, onApplied);
    await within?.(tx);
    return names;
  });
};

const applyPending = async (
  tx: Tx,
  store: Store,
  texts: readonly MigrationText[],
  onApplied: OnApplied = () => undefined,
): Promise<string[]> => {
  if (store.dialect.engine === 'postgres') await acquireLock(tx);
  const { text, integer, end } = store.ddl;
  await sql
    .raw(
      `create table if not exists migrations (name ${text} primary key, applied_at ${integer} not null) ${end}`,
    )
    .execute(tx.db);
  const applied = await appliedNames(tx.db);
  refuseNewer(applied, texts); // another service may have migrated while this one waited
  const pending = pendingMigrations(applied, texts);
  for (const migration of texts.filter(({ name }) => pending.includes(name))) {
    const began = performance.now();
    for (const statement of migration.statements(store.ddl)) {
      await sql.raw(statement).execute(tx.db);
    }
    await runDeferred(store, tx);
    await sql`insert into migrations (name, applied_at) values (${migration.name}, ${tx.now})`.execute(tx.db);
    onApplied(migration.name, performance.now() - began);
  }
  return pending;
};

/**
 * Runs pending deferred triggers. PostgreSQL does not alter a table while its deferred triggers wait for the end of
 * the transaction.
 */
const runDeferred = async ({ ddl }: Store, { db }: Tx): Promise<void> => {
  if (ddl.engine === 'sqlite') return;
  await sql`set constraints all immediate`.execute(db);
  await sql`set constraints all deferred`.execute(db);
};

/**
 * Acquires the migration lock, without a statement timeout: another migration, or a statement over many rows, may
 * take long.
 */
const acquireLock = async ({ db }: Tx): Promise<void> => {
  await sql`set local statement_timeout = 0`.execute(db);
  await sql`select pg_advisory_xact_lock(${lockKey})`.execute(db);
};

/**
 * Refuses a database of a newer version.
 * @throws StartFailure
 */
export const refuseNewer = (
  applied: readonly string[],
  texts: readonly MigrationText[] = migrationTexts,
): void => {
  const ownNames = toNames(texts);
  const newer = applied.find((name) => !ownNames.includes(name));
  if (newer !== undefined) {
    throw new StartFailure(
      `the database was written by a newer Gantry (it carries "${newer}"): start that version, ` +
        'or restore a backup made by this one',
    );
  }
};
