/** Opens database files with the settings that durability needs. */
import { DatabaseSync } from 'node:sqlite';
import { getErrorMessage, StartFailure } from '../../errors.ts';
import { isUnopenable } from './errors.ts';
import { locationToRead } from './readonly_location.ts';

// `SqliteWriter` puts the log on disk after each commit that has to be durable (`log_sync.ts`).
const pragmasOfWriter = ['pragma journal_mode = wal', 'pragma synchronous = normal'];

const pragmas = [
  'pragma foreign_keys = on',
  'pragma busy_timeout = 5000',
  'pragma trusted_schema = off',
  'pragma cell_size_check = on',
  'pragma cache_size = -8000',
  'pragma temp_store = memory',
  // Pages, four times the default. Assigning a job writes eight pages, and a request that meets a checkpoint waits
  // for it.
  'pragma wal_autocheckpoint = 4000',
];

const damaged = (file: string, error: unknown): StartFailure =>
  new StartFailure(
    `the database ${file} cannot be read (${getErrorMessage(error)}): ` +
      (isUnopenable(error)
        ? 'check that the folder can be written to'
        : 'restore it from a backup, or name another folder with --data'),
  );

type Access = { readOnly: boolean; location: string | URL };

const openFile = (file: string, { readOnly, location }: Access): DatabaseSync => {
  try {
    const database = new DatabaseSync(location, { readOnly });
    for (const pragma of readOnly ? pragmas : [...pragmasOfWriter, ...pragmas]) database.exec(pragma);
    const { synchronous } = database.prepare('pragma synchronous').get() as { synchronous: number };
    if (!readOnly && synchronous !== 1) throw new Error('synchronous=NORMAL did not hold');
    database.prepare('select count(*) from sqlite_schema').get();
    return database;
  } catch (error) {
    throw damaged(file, error);
  }
};

/** Opens the file for reading and writing; creates it if it is missing. */
export const openToWrite = (file: string): DatabaseSync =>
  openFile(file, { readOnly: false, location: file });

/** Opens a file that a writer of this process keeps open. */
export const openBesideWriter = (file: string): DatabaseSync =>
  openFile(file, { readOnly: true, location: file });

/** Opens a file so that not even the files next to it change. */
export const openReadOnly = (file: string): DatabaseSync =>
  openFile(file, { readOnly: true, location: locationToRead(file) });
