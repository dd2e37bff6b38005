/** Moves all rows of the database to the other engine, or to another server, while no service runs. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import type { Config } from '../../platform/config/fields.ts';
import { migrate } from '../../platform/db/migrate.ts';
import type { Store } from '../../platform/db/open.ts';
import { connectionName } from '../../platform/db/process_name.ts';
import { type OnCopied, copyTables } from '../../platform/db/transfer/copy_tables.ts';
import type { Row, Table, TableReader } from '../../platform/db/transfer/table_reader.ts';
import { StartFailure } from '../../platform/errors.ts';
import { movedName, readInstanceRecord, recordMove } from '../service/instance_record.ts';
import {
  databaseExists,
  databaseFile,
  openAnyStore,
  openCurrentStore,
  toCommandParts,
} from '../service/open_database.ts';
import { type DatabasePlace, openReader, openWriter } from './open_tables.ts';

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
    const store = await openAnyStore(toCommandParts(target), false, draft);
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

/** Refuses to move a file that another process has open: a command that began before the move was recorded. */
const refuseOpened = (file: string): void => {
  const database = new DatabaseSync(file);
  try {
    database.exec('pragma locking_mode = exclusive; begin immediate; rollback');
  } catch {
    throw new StartFailure('a command uses the database: wait until it has ended, or stop it first');
  } finally {
    database.close();
  }
};

/** Refuses to move a database that other services of the same server use. */
const refuseUsed = async ({ db }: Store): Promise<void> => {
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

/** Leaves the record of the move out, so that the target is whole with its last row. */
const withoutMove = (reader: TableReader): TableReader => {
  const rows = async function* rows(table: Table): AsyncGenerator<readonly Row[]> {
    const at = table.name === 'instance' ? table.columns.indexOf('name') : -1;
    for await (const batch of reader.rows(table))
      yield at === -1 ? batch : batch.filter((row) => row[at] !== movedName);
  };
  const countRows = async (table: Table): Promise<number> => {
    if (table.name !== 'instance') return await reader.countRows(table);
    let count = 0;
    for await (const batch of rows(table)) count += batch.length;
    return count;
  };
  return {
    tables: async () => await reader.tables(),
    sequences: async () => await reader.sequences(),
    rows,
    countRows,
  };
};

const copyDatabase = async (
  source: Config,
  target: Config,
  onCopied?: OnCopied,
): Promise<{ [table: string]: number }> => {
  const reader = await openReader(source);
  try {
    return await fillDatabase(withoutMove(reader), target, onCopied);
  } finally {
    await reader.close();
  }
};

const withCurrentStore = async <T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> => {
  const store = await openCurrentStore(toCommandParts(config));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};

/** Records a move. @returns what was recorded before */
const exchangeMove = async (config: Config, target: string | null): Promise<string | null> =>
  await withCurrentStore(config, async (store) => {
    const { movedTo } = await readInstanceRecord(store);
    if (movedTo !== target) await recordMove(store, target);
    return movedTo;
  });

/** What the file of SQLite is called after a move. */
const movedFile = (config: Config): string => `${databaseFile(config)}.moved`;

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
  const isFile = source.database_url === null;
  // Recorded first: what starts either reads it, or is connected already and found below.
  const movedTo = await exchangeMove(source, formatPlace(target));
  let copied: { [table: string]: number };
  try {
    if (isFile) refuseOpened(databaseFile(source));
    else await withCurrentStore(source, refuseUsed);
    if (target.database_url === null) await withCurrentStore(source, refuseSharedLogs);
    copied = await copyDatabase(source, target, onCopied);
  } catch (error) {
    await exchangeMove(source, movedTo).catch(() => undefined);
    throw error;
  }
  if (isFile) renameSync(databaseFile(source), movedFile(source));
  return copied;
};

/**
 * Makes a database usable again that was moved.
 * @returns whether it was
 */
export const undoMove = async (config: Config): Promise<boolean> => {
  if (!databaseExists(config) && existsSync(movedFile(config)))
    renameSync(movedFile(config), databaseFile(config));
  return (await exchangeMove(config, null)) !== null;
};
