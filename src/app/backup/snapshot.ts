/** Copies the database at one point into a SQLite file, while a service writes. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { Config } from '../../platform/config/fields.ts';
import type { OnCopied } from '../../platform/db/transfer/copy_tables.ts';
import { openSqliteReader } from '../../platform/db/transfer/sqlite_tables.ts';
import { databaseFile } from '../service/open_database.ts';
import { fillDatabase } from './move_database.ts';
import { openReader } from './open_tables.ts';

/** Runs in a thread: the copy of a large database takes minutes, in which this process renews its record. */
const vacuumProgram = `
const { workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const database = new DatabaseSync(workerData.from, { readOnly: true });
database.exec('pragma busy_timeout = 10000');
database.prepare('vacuum into ?').run(workerData.to);
database.close();
`;

const vacuumInto = async (from: string, to: string): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const worker = new Worker(vacuumProgram, { eval: true, workerData: { from, to } });
  worker.once('error', reject);
  worker.once('exit', () => resolve());
  await promise;
};

/**
 * Copies the database to a file in a folder: on SQLite in one read transaction, on PostgreSQL from one snapshot.
 * @returns the path of the file
 */
export const snapshotDatabase = async (
  config: Config,
  folder: string,
  onCopied?: OnCopied,
): Promise<string> => {
  const file = databaseFile({ data: folder });
  rmSync(file, { force: true });
  if (config.database_url === null) {
    await vacuumInto(databaseFile(config), file);
    return file;
  }
  const reader = await openReader(config);
  try {
    await fillDatabase(reader, { ...config, database_url: null, data: folder }, onCopied);
  } finally {
    await reader.close();
  }
  return file;
};

/** Counts the rows of each table of a snapshot. */
export const countRows = async (file: string): Promise<{ [table: string]: number }> => {
  const reader = openSqliteReader(file);
  try {
    const counts: { [table: string]: number } = {};
    for (const table of await reader.tables()) counts[table.name] = await reader.countRows(table);
    return counts;
  } finally {
    reader.close();
  }
};

/** A snapshot that is open for reading. */
export type Snapshot = {
  all: <T>(text: string, ...values: (string | number)[]) => T[];
  /** Reads rows one by one, for results that do not fit into memory. */
  each: <T>(text: string) => Iterable<T>;
  close: () => void;
};

export const openSnapshot = (file: string): Snapshot => {
  const database = new DatabaseSync(file, { readOnly: true });
  return {
    all: <T>(text: string, ...values: (string | number)[]) => database.prepare(text).all(...values) as T[],
    each: <T>(text: string) => database.prepare(text).iterate() as Iterable<T>,
    close: () => database.close(),
  };
};

/** Folder for what is copied before it is stored, in the data folder. */
export const workFolder = (config: Pick<Config, 'data'>): string => join(config.data, 'backup_work');
