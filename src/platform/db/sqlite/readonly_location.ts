/** Opens SQLite databases so that not even the WAL and the shared memory change. */
import { existsSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const withParameter = (file: string, name: string): URL => {
  const url = pathToFileURL(file);
  url.searchParams.set(name, '1');
  return url;
};

/** Returns whether no process has the database open and no crash left a WAL. A reader would otherwise create one. */
export const isUnopened = (file: string): boolean => {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  return log === undefined || (log.size === 0 && !existsSync(`${file}-shm`));
};

/**
 * Returns the URI to open a database for reading, see https://www.sqlite.org/uri.html. If processes use the database,
 * the reader shares the shared-memory file next to it, which SQLite creates if missing.
 */
export const locationToRead = (file: string): URL => {
  if (isUnopened(file)) return withParameter(file, 'immutable');
  return existsSync(`${file}-shm`) ? withParameter(file, 'readonly_shm') : pathToFileURL(file);
};
