import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { StartFailure } from '../errors.ts';
import { buildConcurrently } from './concurrent_indexes.ts';
import type { MigrationText } from './ddl_keywords.ts';
import { migrationTexts } from './migrations/list.ts';
import { readNewDatabase } from './new_database.ts';
import type { Reader, Store, Tx } from './open.ts';
import { restorePlannerStatistics } from './sqlite/planner_statistics.ts';

/** Advisory lock number; services that start together on one PostgreSQL migrate one after another. */
const lockKey = 6_781_204;

/**
 * Milliseconds that a statement of a migration waits for a lock. Later statements wait as well, so it gives up soon,
 * and the migration restarts after a pause.
 */
const lockTimeout = 1_000;
const maxLockTries = 60;
const lockPause = 1_000;

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

const toNames = (texts: readonly { name: string }[]): string[] => texts.map(({ name }) => name);

export const pendingMigrations = (
  applied: string[],
  texts: readonly MigrationText[] = migrationTexts,
): string[] => toNames(texts).filter((name) => !applied.includes(name));

type Applied = { name: string; milliseconds: number };

/** Receives the name of a migration that was applied, and the milliseconds that it took. */
export type OnApplied = (name: string, milliseconds: number) => void;

/** Returns the migrations that a database of an earlier version has. */
export const selectApplied = (applied: readonly string[]): MigrationText[] =>
  migrationTexts.filter(({ name }) => applied.includes(name));

/**
 * Migrates the database to this version's schema in one transaction, and then builds indexes that other processes need
 * not wait for. Returns the names of applied migrations. SQLite: writes the statistics of the planner, if they differ.
 * @param texts other migrations, for tests
 * @param within runs in the same transaction after the migration; if it fails, nothing is changed
 * @param onApplied called for each migration once all are committed
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
  if (isCurrent && within === undefined) {
    await restoreStatistics(store);
    return [];
  }
  const inTurn = await withLockRetries(store, async (tx) => {
    const done = isCurrent ? [] : await applyPending(tx, store, texts);
    await within?.(tx);
    return done;
  });
  const later = isCurrent ? [] : await buildIndexes(store, texts);
  await restoreStatistics(store);
  const appliedNow = [...inTurn, ...later];
  for (const { name, milliseconds } of appliedNow) onApplied?.(name, milliseconds);
  return toNames(appliedNow);
};

const restoreStatistics = async (store: Store): Promise<void> => {
  if (store.dialect.engine === 'sqlite') await restorePlannerStatistics(store);
};

/** Runs a transaction, again while others hold a lock that it needs. @throws StartFailure if they do not let go */
const withLockRetries = async <T>(store: Store, work: (tx: Tx) => Promise<T>): Promise<T> => {
  for (let tried = 1; ; tried += 1) {
    try {
      return await store.write(work);
    } catch (error) {
      if (!store.isLockTimeout(error)) throw error;
      if (tried === maxLockTries)
        throw new StartFailure(
          'the database cannot be migrated, because other transactions hold a table for long: end them (pg_stat_activity) or stop the other services; nothing was changed',
        );
      await wait(lockPause * (1 + Math.random()));
    }
  }
};

/** True if the migration must run after the others are committed: PostgreSQL builds its indexes concurrently. */
const isLater = ({ dialect }: Store, { concurrentIndexes }: MigrationText): boolean =>
  dialect.engine === 'postgres' && concurrentIndexes !== undefined;

/** Builds the indexes of migrations that wait for it, and records each migration once its indexes are complete. */
const buildIndexes = async (store: Store, texts: readonly MigrationText[]): Promise<Applied[]> => {
  const listPending = async (): Promise<MigrationText[]> => {
    const pending = pendingMigrations(await appliedNames(store.db), texts);
    return texts.filter((text) => pending.includes(text.name) && isLater(store, text));
  };
  if ((await listPending()).length === 0) return [];
  return await store.runExclusively('indexes', async () => {
    const done: Applied[] = [];
    const pending = await listPending(); // another service may have built them while this one waited
    for (const { name, concurrentIndexes = [] } of pending) {
      const began = performance.now();
      await buildConcurrently(store, concurrentIndexes);
      await store.write(async ({ db, now }) => {
        await sql`insert into migrations (name, applied_at) values (${name}, ${now})`.execute(db);
      });
      done.push({ name, milliseconds: performance.now() - began });
    }
    return done;
  });
};

const applyPending = async (tx: Tx, store: Store, texts: readonly MigrationText[]): Promise<Applied[]> => {
  if (store.dialect.engine === 'postgres') await acquireLock(tx);
  const { text, integer, end } = store.ddl;
  await sql
    .raw(
      `create table if not exists migrations (name ${text} primary key, applied_at ${integer} not null) ${end}`,
    )
    .execute(tx.db);
  const applied = await appliedNames(tx.db);
  refuseNewer(applied, texts); // another service may have migrated while this one waited
  const names = pendingMigrations(applied, texts);
  const isNew = applied.length === 0;
  const pending = texts.filter((text) => names.includes(text.name) && (isNew || !isLater(store, text)));
  if (isNew && (await createAtOnce(tx, store, toNames(pending))))
    return toNames(pending).map((name) => ({ name, milliseconds: 0 }));
  const done: Applied[] = [];
  for (const migration of pending) {
    const began = performance.now();
    for (const statement of migration.statements(store.ddl)) {
      await sql.raw(statement).execute(tx.db);
    }
    await runDeferred(store, tx);
    await sql`insert into migrations (name, applied_at) values (${migration.name}, ${tx.now})`.execute(tx.db);
    done.push({ name: migration.name, milliseconds: performance.now() - began });
  }
  return done;
};

/** Creates a SQLite database from the statements of the build, if they match these migrations. */
const createAtOnce = async (tx: Tx, { dialect }: Store, names: readonly string[]): Promise<boolean> => {
  const described = dialect.engine === 'sqlite' ? readNewDatabase() : null;
  if (described === null || described.migrations.join(' ') !== names.join(' ')) return false;
  for (const statement of described.statements) await sql.raw(statement).execute(tx.db);
  const rows = sql.join(names.map((name) => sql`(${name}, ${tx.now})`));
  await sql`insert into migrations (name, applied_at) values ${rows}`.execute(tx.db);
  return true;
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
 * take long. Only then limits the wait for other locks.
 */
const acquireLock = async ({ db }: Tx): Promise<void> => {
  await sql`set local statement_timeout = 0`.execute(db);
  await sql`select pg_advisory_xact_lock(${lockKey})`.execute(db);
  await sql`select set_config('lock_timeout', ${String(lockTimeout)}, true)`.execute(db);
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
