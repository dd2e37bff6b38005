/** Removes lock files of killed git processes, which block every later change. */
import { readFile, readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { makeLruMap } from '../lru_cache.ts';
import { type RefUpdate, zeroOid } from '../protocol_records.ts';
import { listNames } from '../disk/list_names.ts';

/** Milliseconds. No git process of gitd holds a lock for so long. */
const oldAge = 10 * 60 * 1000;

/** Time since which only our git processes work here: older locks are stale. */
let aloneSince = 0;

/** The clock of a file system may lag some milliseconds behind. */
export const noteExclusiveStart = (now: number): void => void (aloneSince = now - 20);

/** Written under the lock of the packed refs: git deletes no ref while it exists. */
const unfinishedRefs = 'packed-refs.new';

const listLockFiles = async (dir: string): Promise<string[]> => {
  const below = await readdir(join(dir, 'refs'), { recursive: true }).catch(() => []);
  const graph = await listNames(join(dir, 'objects/info/commit-graphs'));
  const pack = await listNames(join(dir, 'objects/pack'));
  return [
    ...(await listNames(dir)),
    ...below.map((name) => join('refs', name)),
    ...(await listNames(join(dir, 'objects/info'))).map((name) => join('objects/info', name)),
    ...graph.map((name) => join('objects/info/commit-graphs', name)),
    ...pack.map((name) => join('objects/pack', name)),
  ].filter((name) => name.endsWith('.lock') || name === unfinishedRefs);
};

/** Removes a lock file if it is stale; returns whether it was. */
const removeIfStale = async (file: string, now: number): Promise<boolean> => {
  const stats = await stat(file).catch(() => null);
  if (stats === null) return false;
  const isStale = stats.mtimeMs < aloneSince || stats.mtimeMs < now - oldAge;
  if (isStale) await rm(file, { force: true });
  return isStale;
};

/** Removes stale locks of a repository and returns their names. */
export const removeStaleLocks = async (dir: string, now: number): Promise<string[]> => {
  const files = (await listLockFiles(dir)).map((name) => join(dir, name));
  const removed = await Promise.all(files.map(async (file) => await removeIfStale(file, now)));
  return files.filter((_file, index) => removed[index]).map((file) => relative(dir, file));
};

/** Repositories already cleared. An evicted one is cleared again. */
const cleared = makeLruMap<true>(20_000);

/** Clears stale locks once per repository and process, before its first change. */
export const clearLocksOnce = async (dir: string): Promise<void> => {
  if (cleared.get(dir) === true) return;
  cleared.set(dir, true);
  await removeStaleLocks(dir, Date.now());
};

/** Returns whether a lock contains this update: git writes the new id into it, and nothing for a deletion. */
const holdsUpdate = (text: string, { new: next }: RefUpdate): boolean =>
  next === zeroOid ? text === '' : text === `${next}\n`;

const getLockPath = (dir: string, { ref }: RefUpdate): string => join(dir, `${ref}.lock`);

const isHeldByDead = async (dir: string, update: RefUpdate): Promise<boolean> => {
  const text = await readFile(getLockPath(dir, update), 'latin1').catch(() => null);
  return text !== null && holdsUpdate(text, update);
};

/** Lists the locks taken with a ref's: of HEAD, and of the packed refs for a deletion. */
const listRelatedLocks = async (dir: string, held: readonly RefUpdate[]): Promise<string[]> => {
  const head = await readFile(join(dir, 'HEAD'), 'utf8').catch(() => '');
  const isHead = held.some(({ ref }) => head === `ref: ${ref}\n`);
  const isTaken = held.some((update) => update.new === zeroOid);
  return [...(isHead ? ['HEAD.lock'] : []), ...(isTaken ? [unfinishedRefs, 'packed-refs.lock'] : [])];
};

/**
 * Removes the locks of a dead process that had applied none of these updates. A lock with other content belongs to
 * another process.
 */
export const removeLocksOfDead = async (dir: string, updates: readonly RefUpdate[]): Promise<void> => {
  const isHeld = await Promise.all(updates.map(async (update) => await isHeldByDead(dir, update)));
  const held = updates.filter((_update, index) => isHeld[index]);
  // Ref locks come last: until then no other process takes the related locks.
  for (const name of await listRelatedLocks(dir, held)) {
    await rm(join(dir, name), { force: true });
  }
  await Promise.all(held.map(async (update) => await rm(getLockPath(dir, update), { force: true })));
};
