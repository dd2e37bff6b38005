/** Moves all rows of the database to the other engine, or to another server, while no service runs. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { sql } from 'kysely';
import type { Config } from '../../platform/config/fields.ts';
import { migrate } from '../../platform/db/migrate.ts';
import type { Store } from '../../platform/db/open.ts';
import { connectionName } from '../../platform/db/process_name.ts';
import { type OnCopied, copyTables } from '../../platform/db/transfer/copy_tables.ts';
import type { TableReader } from '../../platform/db/transfer/table_reader.ts';
import { StartFailure } from '../../platform/errors.ts';
import { systemClock } from '../../platform/time.ts';
import { readInstanceRecord, recordMove } from '../service/instance_record.ts';
import { databaseFile, openAnyStore, openCurrentStore } from '../service/open_database.ts';
import { type DatabasePlace, openReader, openWriter } from './open_tables.ts';

const toParts = (config: Config) => ({ config, clock: systemClock, onFatal: () => undefined });

/** Creates the schema of this version in an empty database. @throws StartFailure if the database is in use */
const prepareTarget = async (store: Store, label: string): Promise<void> => {
  try {
    const { isEmpty } = await readInstanceRecord(store);
    if (!isEmpty) throw new StartFailure(`${label} is in use: name an empty database`);
    await migrate(store);
  } finally {
    await store.close();
  }
};

/**
 * Copies all rows into an empty database, which gets the schema of this version.
 * @returns the rows of each table
 */
export const fillDatabase = async (
  source: TableReader,
  target: Config,
  onCopied?: OnCopied,
): Promise<{ [table: string]: number }> => {
  const file = databaseFile(target);
  const isFile = target.database_url === null;
  if (isFile && existsSync(file)) throw new StartFailure(`${file} exists: name an empty folder with --data`);
  // A file gets its name when it is whole.
  const draft = `${file}.draft`;
  const remove = (): void => {
    for (const ending of isFile ? ['', '-wal', '-shm'] : []) rmSync(`${draft}${ending}`, { force: true });
  };
  let copied: { [table: string]: number };
  remove();
  try {
    const store = await openAnyStore(toParts(target), false, draft);
    await prepareTarget(store, isFile ? file : `the schema ${target.database_schema}`);
    const writer = await openWriter(target, draft);
    try {
      copied = await copyTables(source, writer, onCopied);
    } finally {
      await writer.close();
    }
    if (isFile) renameSync(draft, file);
    return copied;
  } catch (error) {
    remove();
    throw error;
  }
};

/** Refuses to move a database that other services of the same server use. */
const refuseUsed = async ({ db, dialect }: Store): Promise<void> => {
  if (dialect.engine === 'sqlite') return;
  const { rows } = await sql`select 1 from pg_stat_activity where datname = current_database()
    and application_name like 'gantry %' and application_name <> ${connectionName}
    and application_name not like 'gantry transfer%' limit 1`.execute(db);
  if (rows.length > 0) throw new StartFailure('a service uses the database: stop all services first');
};

/** Logs that several services share are rows, which a service on SQLite does not read. */
const refuseSharedLogs = async ({ db }: Store): Promise<void> => {
  const row = await db.selectFrom('shared_traces').select('job_id').limit(1).executeTakeFirst();
  if (row === undefined) return;
  throw new StartFailure(
    'the logs of jobs are shared by several services, which SQLite cannot do: keep PostgreSQL for this instance',
  );
};

const isSameDatabase = (one: DatabasePlace, other: DatabasePlace): boolean =>
  one.database_url === other.database_url && one.database_schema === other.database_schema;

/** Formats the place of a database without its password. */
const formatPlace = ({ database_url, database_schema, data }: DatabasePlace): string => {
  if (database_url === null) return databaseFile({ data });
  const { host, pathname } = new URL(database_url);
  return `postgres://${host}${pathname} (schema ${database_schema})`;
};

const copyDatabase = async (
  source: Config,
  target: Config,
  onCopied?: OnCopied,
): Promise<{ [table: string]: number }> => {
  const reader = await openReader(source);
  try {
    return await fillDatabase(reader, target, onCopied);
  } finally {
    await reader.close();
  }
};

/** Ends the state of a move in a database. */
const forgetMove = async (config: Config): Promise<void> => {
  const store = await openCurrentStore(toParts(config));
  try {
    await recordMove(store, null);
  } finally {
    await store.close();
  }
};

/**
 * Moves the database of a configuration. No service starts with the old one from the beginning of the move on: that is
 * recorded in it, and the old file of SQLite gets another name.
 * @returns the rows of each table
 */
export const moveDatabase = async (
  source: Config,
  target: Config,
  onCopied?: OnCopied,
): Promise<{ [table: string]: number }> => {
  if (isSameDatabase(source, target)) throw new StartFailure('the database is there already');
  const store = await openCurrentStore(toParts(source));
  const { movedTo } = await readInstanceRecord(store);
  let copied: { [table: string]: number };
  try {
    // Recorded first: a service that starts either reads it, or is connected already and found below.
    await recordMove(store, formatPlace(target));
    await refuseUsed(store);
    if (target.database_url === null) await refuseSharedLogs(store);
    copied = await copyDatabase(source, target, onCopied);
    await forgetMove(target);
  } catch (error) {
    await recordMove(store, movedTo).catch(() => undefined);
    throw error;
  } finally {
    await store.close();
  }
  const file = databaseFile(source);
  if (source.database_url === null) renameSync(file, `${file}.moved`);
  return copied;
};

/**
 * Makes a database usable again that was moved.
 * @returns whether it was
 */
export const undoMove = async (config: Config): Promise<boolean> => {
  const store = await openCurrentStore(toParts(config));
  try {
    const { movedTo } = await readInstanceRecord(store);
    if (movedTo !== null) await recordMove(store, null);
    return movedTo !== null;
  } finally {
    await store.close();
  }
};
