/** How a SQLite database is opened so that not even its log and its shared memory change. */
import { existsSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const withParameter = (file: string, name: string): URL => {
  const url = pathToFileURL(file);
  url.searchParams.set(name, '1');
  return url;
};

/** Whether no process has the database open, and none that was killed left a log: a reader would begin one. */
export const isUnopened = (file: string): boolean => {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  return log === undefined || (log.size === 0 && !existsSync(`${file}-shm`));
};

/**
 * Where to open the database for reading, as https://www.sqlite.org/uri.html has it: a reader of a database that
 * processes use reads the shared memory that lies beside it, which SQLite builds where it is missing.
 */
export const locationToRead = (file: string): URL => {
  if (isUnopened(file)) return withParameter(file, 'immutable');
  return existsSync(`${file}-shm`) ? withParameter(file, 'readonly_shm') : pathToFileURL(file);
};
