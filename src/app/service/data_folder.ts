import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { getErrorMessage, StartFailure } from '../../platform/errors.ts';

/** Creates the folder (mode 0700) if it is missing. Refuses a folder that is not writable or that others can read. */
export const prepareFolder = (folder: string): void => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!statSync(folder).isDirectory()) throw new Error('it is not a directory');
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    chmodSync(folder, 0o700);
  } catch (error) {
    const why = getErrorMessage(error);
    throw new StartFailure(
      `the data folder ${folder} cannot be used (${why}): mend it, or name another with --data`,
    );
  }
};

const lockName = 'lock';

export type FolderOwner = { uid: number; gid: number };

/**
 * Returns the user that a folder was first used by, or the owner of a folder that is not used yet; null if there is
 * none. They differ where root of a container uses a volume that belongs to somebody else.
 * @param lockFile name of the lock file that the first use creates
 */
export const readOwner = (folder: string, lockFile = lockName): FolderOwner | null => {
  const lock = join(folder, lockFile);
  const stats = statSync(existsSync(lock) ? lock : folder, { throwIfNoEntry: false });
  return stats === undefined ? null : { uid: stats.uid, gid: stats.gid };
};

/** Returns whether the folder has files. */
export const isInUse = (folder: string): boolean =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true && readdirSync(folder).length > 0;

/** Locks the folder for this process. The system releases the lock however the process ends. */
export const lockFolder = (folder: string): { release: () => void } => {
  const lock = new DatabaseSync(join(folder, lockName));
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch {
    lock.close();
    throw new StartFailure(`another Gantry runs on ${folder}: stop it, or name another folder with --data`);
  }
  return { release: () => lock.close() };
};

/** Writes a file that only its owner can read, and syncs it to disk. */
export const writePrivate = (file: string, text: string): void => {
  writeFileSync(file, text, { mode: 0o600, flush: true });
};
