/** An empty folder for one command, which is removed afterwards. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../../platform/config/fields.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { workFolder } from '../../backup/snapshot.ts';
import { lockFolder, prepareFolder } from '../../service/data_folder.ts';

const findBase = ({ data, backup_scratch }: Config): string => {
  if (backup_scratch === null) prepareFolder(data);
  // A folder of our own: its mode changes, and what killed processes left is removed.
  const base = `${workFolder({ data: backup_scratch ?? data })}_scratch`;
  try {
    prepareFolder(base);
  } catch (error) {
    if (backup_scratch === null) throw error;
    throw new StartFailure(`GANTRY_BACKUP_SCRATCH: ${(error as Error).message.replace(/: mend it.*/, '')}`);
  }
  return base;
};

/** Locks a folder that another command may be removing; null: it was removed. */
const tryLock = (folder: string): { release: () => void } | null => {
  try {
    return lockFolder(folder);
  } catch {
    return null;
  }
};

/** Removes a folder before its lock is free: else another command could lock it and lose it. */
const removeLocked = (folder: string, lock: { release: () => void }): void => {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    // Another command opens a lock in a folder that it has just created: it keeps the folder.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  } finally {
    lock.release();
  }
};

/** Removes folders of processes that were killed: their locks are free. */
const removeLeft = (base: string): void => {
  for (const name of readdirSync(base).filter((one) => one.startsWith('run-'))) {
    const folder = join(base, name);
    const lock = tryLock(folder);
    if (lock === null) continue;
    removeLocked(folder, lock);
  }
};

const createLocked = (base: string): { folder: string; release: () => void } => {
  for (;;) {
    const folder = mkdtempSync(join(base, 'run-'));
    const lock = tryLock(folder);
    if (lock !== null && existsSync(folder)) return { folder, release: lock.release };
    lock?.release(); // another command took it for the folder of a killed process
  }
};

/** Runs work with an empty folder in GANTRY_BACKUP_SCRATCH or the data folder. */
export const withScratch = async <T>(config: Config, work: (folder: string) => Promise<T>): Promise<T> => {
  const base = findBase(config);
  removeLeft(base);
  const { folder, release } = createLocked(base);
  try {
    return await work(folder);
  } finally {
    removeLocked(folder, { release });
  }
};
