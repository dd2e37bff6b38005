/** Lock files that a killed git left: every later change of what they lock would fail. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Milliseconds. No git of ours holds a lock for so long. */
const oldAge = 10 * 60 * 1000;

/** Since when no git but ours works here: what was locked before, nobody holds. */
let aloneSince = 0;

/** The clock of a file system may lag some milliseconds behind. */
export const weAreAlone = (now: number): void => void (aloneSince = now - 20);

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
  ].filter((name) => name.endsWith('.lock'));
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
