/** Copies the database at one point into a SQLite file, while a service writes. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '../../platform/config/fields.ts';
import { copyDatabaseFile } from '../../platform/db/sqlite/copy_file.ts';
import type { OnCopied } from '../../platform/db/transfer/copy_tables.ts';
import { openSqliteReader } from '../../platform/db/transfer/sqlite_tables.ts';
import { databaseFile } from '../service/open_database.ts';
import { fillDatabase } from './move_database.ts';
import { openReader } from './open_tables.ts';

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
    await copyDatabaseFile(databaseFile(config), file);
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
  each: <T>(text: string, ...values: (string | number)[]) => Iterable<T>;
  close: () => void;
};

export const openSnapshot = (file: string): Snapshot => {
  const database = new DatabaseSync(file, { readOnly: true });
  return {
    all: <T>(text: string, ...values: (string | number)[]) => database.prepare(text).all(...values) as T[],
    each: <T>(text: string, ...values: (string | number)[]) =>
      database.prepare(text).iterate(...values) as Iterable<T>,
    close: () => database.close(),
  };
};

/** Folder for what is copied before it is stored, in the data folder. */
export const workFolder = (config: Pick<Config, 'data'>): string => join(config.data, 'backup_work');
