/** Prunes caches by size and age, and project folders by age. */
import { type Stats, rmdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { endUser } from '../executors/job_users.ts';
import { removeTree, takeNumber } from './slot_folders.ts';
import { listNames } from './list_names.ts';

export type Bounds = {
  /** Maximum bytes of all caches. */
  cacheBytes: number;
  /** Days to keep a cache or folder after its last use. */
  days: number;
};

const dayMilliseconds = 86_400_000;

type StoredPath = { path: string; stats: Stats };

const statIfPresent = (path: string): StoredPath[] => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? [] : [{ path, stats }];
};

/** A cache file `<project>/<kind>/<key>.zip`. */
const cachesIn = (caches: string): StoredPath[] =>
  listNames(caches).flatMap((project) =>
    listNames(join(caches, project)).flatMap((kind) => {
      const folder = join(caches, project, kind);
      return listNames(folder).flatMap((name) => statIfPresent(join(folder, name)));
    }),
  );

/** Removes the least recently used caches. @returns how many */
const pruneCaches = async (caches: string, { cacheBytes, days }: Bounds, now: number): Promise<number> => {
  const oldest = now - days * dayMilliseconds;
  let room = cacheBytes;
  let count = 0;
  for (const { path, stats } of cachesIn(caches).toSorted((a, b) => b.stats.mtimeMs - a.stats.mtimeMs)) {
    room -= stats.size;
    if (room >= 0 && stats.mtimeMs >= oldest) continue;
    await rm(path, { force: true });
    count += 1;
  }
  for (const project of listNames(caches)) {
    for (const kind of listNames(join(caches, project))) removeEmpty(join(caches, project, kind));
    removeEmpty(join(caches, project));
  }
  return count;
};

const removeEmpty = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // The folder is not empty.
  }
};

const trees = ['builds', 'container-builds', 'mirrors'];

/** Prunes the folders of one idle slot. */
const pruneSlot = async (work: string, oldest: number): Promise<number> => {
  const folders = trees.flatMap((tree) =>
    listNames(join(work, tree)).flatMap((name) => statIfPresent(join(work, tree, name))),
  );
  const old = folders.filter(({ stats }) => stats.mtimeMs < oldest);
  for (const { path } of old) {
    await removeTree(path);
  }
  return old.length;
};

const pruneWork = async (root: string, drops: boolean, oldest: number): Promise<number> => {
  const numbers = listNames(join(root, 'slots')).map(Number).filter(Number.isInteger);
  let count = 0;
  for (const number of numbers) {
    const slot = takeNumber(root, number, drops);
    if (slot === null) continue; // it is in use
    try {
      if (slot.user !== null) await endUser(slot.user);
      count += await pruneSlot(slot.work, oldest);
    } finally {
      slot.release();
    }
  }
  return count;
};

export type PruneParts = { root: string; drops: boolean; bounds: Bounds; now: number };

/** Prunes caches and folders. @returns how many of each were removed */
export const prune = async ({
  root,
  drops,
  bounds,
  now,
}: PruneParts): Promise<{ caches: number; folders: number }> => ({
  caches: await pruneCaches(join(root, 'cache'), bounds, now),
  folders: await pruneWork(root, drops, now - bounds.days * dayMilliseconds),
});
