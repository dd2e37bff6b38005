/**
 * Locks the repository storages of this machine for one service or one `gantry gitd`. Two of them would remove each
 * other's lock files and pack the same repositories.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '../../platform/config/fields.ts';
import { StartFailure } from '../../platform/errors.ts';
import { markerName } from '../../platform/git/instance_marker.ts';
import { getLocalRoot } from '../../platform/git/storages.ts';

export const storageLockName = 'gantry-lock';
const busy = 5;

export type Lock = { release: () => void };

/**
 * Locks a storage until `release`; the system releases it however the process ends. A storage without locks, as on a
 * read-only disk, is used unlocked.
 * @throws StartFailure if another process holds it
 */
export const lockStorage = (root: string): Lock => {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(root, storageLockName));
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
    const held = lock;
    return { release: () => held.close() };
  } catch (error) {
    lock?.close();
    if ((error as { errcode?: number }).errcode !== busy) return { release: () => undefined };
    throw new StartFailure(
      `another Gantry uses the repository storage ${root}: stop it, or let one "gantry gitd" serve this folder and ` +
        'name its address in GANTRY_REPOSITORY_STORAGES of every service',
    );
  }
};

/** Locks by the root folder of the storage. */
export type StorageLocks = Map<string, Lock>;

/**
 * Locks the marked storages of this machine that are not in `locks` yet. An unmarked storage is not mounted, or not
 * claimed yet.
 * @throws StartFailure for the first that another process holds
 */
export const lockStorages = ({ data, repository_storages }: Config, locks: StorageLocks): void => {
  for (const site of repository_storages) {
    const root = getLocalRoot(data, site);
    const isHere = site.address === null && !locks.has(root) && existsSync(join(root, markerName));
    if (isHere) locks.set(root, lockStorage(root));
  }
};

export const unlockStorages = (locks: StorageLocks): void => {
  for (const { release } of locks.values()) release();
  locks.clear();
};
