/** Lock files that a killed git left: every later change of what they lock would fail. */
import { readFile, readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type RefUpdate, zeroOid } from '../protocol.ts';

/** Milliseconds. No git of ours holds a lock for so long. */
const oldAge = 10 * 60 * 1000;

/** Since when no git but ours works here: what was locked before, nobody holds. */
let aloneSince = 0;

/** The clock of a file system may lag some milliseconds behind. */
export const weAreAlone = (now: number): void => void (aloneSince = now - 20);

/** What is written under the lock of the packed refs: git takes away no ref while it is there. */
const unfinishedRefs = 'packed-refs.new';

const namesIn = async (folder: string): Promise<string[]> => await readdir(folder).catch(() => []);

const lockFilesOf = async (dir: string): Promise<string[]> => {
  const below = await readdir(join(dir, 'refs'), { recursive: true }).catch(() => []);
  const graph = await namesIn(join(dir, 'objects/info/commit-graphs'));
  const pack = await namesIn(join(dir, 'objects/pack'));
  return [
    ...(await namesIn(dir)),
    ...below.map((name) => join('refs', name)),
    ...(await namesIn(join(dir, 'objects/info'))).map((name) => join('objects/info', name)),
    ...graph.map((name) => join('objects/info/commit-graphs', name)),
    ...pack.map((name) => join('objects/pack', name)),
  ].filter((name) => name.endsWith('.lock') || name === unfinishedRefs);
};

/** Answers whether it was one that nobody holds. */
const removeIfStale = async (file: string, now: number): Promise<boolean> => {
  const found = await stat(file).catch(() => null);
  if (found === null) return false;
  const isStale = found.mtimeMs < aloneSince || found.mtimeMs < now - oldAge;
  if (isStale) await rm(file, { force: true });
  return isStale;
};

/** Answers the names of those that it removed. */
export const removeStaleLocks = async (dir: string, now: number): Promise<string[]> => {
  const files = (await lockFilesOf(dir)).map((name) => join(dir, name));
  const removed = await Promise.all(files.map(async (file) => await removeIfStale(file, now)));
  return files.filter((_file, index) => removed[index]).map((file) => relative(dir, file));
};

const cleared = new Set<string>();

/** Once for each repository in the life of this process, before its first change. */
export const clearLocksOnce = async (dir: string): Promise<void> => {
  if (cleared.has(dir)) return;
  cleared.add(dir);
  await removeStaleLocks(dir, Date.now());
};

/** What git has written into the lock of a ref that it is about to move; nothing where it takes the ref away. */
const isLockOf = (text: string, { new: next }: RefUpdate): boolean =>
  next === zeroOid ? text === '' : text === `${next}\n`;

const lockOf = (dir: string, { ref }: RefUpdate): string => join(dir, `${ref}.lock`);

const isHeldByDead = async (dir: string, update: RefUpdate): Promise<boolean> => {
  const text = await readFile(lockOf(dir, update), 'latin1').catch(() => null);
  return text !== null && isLockOf(text, update);
};

/** With the lock of a ref go those of what names it: HEAD, and where one is taken away, all that are packed. */
const locksBeside = async (dir: string, held: readonly RefUpdate[]): Promise<string[]> => {
  const head = await readFile(join(dir, 'HEAD'), 'utf8').catch(() => '');
  const isHead = held.some(({ ref }) => head === `ref: ${ref}\n`);
  const isTaken = held.some((update) => update.new === zeroOid);
  return [...(isHead ? ['HEAD.lock'] : []), ...(isTaken ? [unfinishedRefs, 'packed-refs.lock'] : [])];
};

/**
 * Removes what a process held that was about to make these updates, made none of them, and is dead. A lock that
 * another one holds says something else.
 */
export const removeLocksOfDead = async (dir: string, updates: readonly RefUpdate[]): Promise<void> => {
  const isHeld = await Promise.all(updates.map(async (update) => await isHeldByDead(dir, update)));
  const held = updates.filter((_update, index) => isHeld[index]);
  // Those of the refs come last: until then nobody else takes the ones beside them.
  for (const name of await locksBeside(dir, held)) {
    // oxlint-disable-next-line no-await-in-loop -- what is locked before its lock
    await rm(join(dir, name), { force: true });
  }
  await Promise.all(held.map(async (update) => await rm(lockOf(dir, update), { force: true })));
};
