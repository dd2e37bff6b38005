import { accessSync, chmodSync, constants, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartFailure } from '../errors.ts';

/** Creates the folder (mode 0700) where it is missing; refuses one that cannot be written or that others can read. */
export const prepareFolder = (folder: string): void => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!statSync(folder).isDirectory()) throw new Error('it is not a folder');
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    chmodSync(folder, 0o700);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartFailure(
      `the data folder ${folder} cannot be used (${why}): mend it, or name another with --data`,
    );
  }
};

/** Holds the folder for this process; the system lets go of it however the process ends. */
export const lockFolder = (folder: string): { release: () => void } => {
  const lock = new DatabaseSync(join(folder, 'lock'));
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch {
    lock.close();
    throw new StartFailure(`another Gantry runs on ${folder}: stop it, or name another folder with --data`);
  }
  return { release: () => lock.close() };
};

/** A file that only its owner can read, on disk before this returns. */
export const writePrivate = (file: string, text: string): void => {
  writeFileSync(file, text, { mode: 0o600, flush: true });
};
