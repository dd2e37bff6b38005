import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageRoot } from '../../platform/package_files.ts';

const shownLength = 11;
const commitId = /^[0-9a-f]{40,64}$/;

const read = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
};

/** Returns `.git`, or the folder that a worktree's `.git` file points at. */
const gitFolder = (folder: string): string => {
  const path = join(folder, '.git');
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return path;
  return resolve(folder, (read(path) ?? '').replace(/^gitdir: */, ''));
};

const readPackedRef = (folder: string, ref: string): string | null => {
  const line = (read(join(folder, 'packed-refs')) ?? '').split('\n').find((one) => one.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? null;
};

const readCommit = (folder: string): string | null => {
  const git = gitFolder(folder);
  const head = read(join(git, 'HEAD'));
  if (head === null || !head.startsWith('ref: ')) return head;
  const ref = head.slice('ref: '.length);
  const shared = resolve(git, read(join(git, 'commondir')) ?? '.');
  return read(join(git, ref)) ?? read(join(shared, ref)) ?? readPackedRef(shared, ref);
};

/**
 * Returns the commit that runs, shortened: from the file `REVISION` of a package, else from the clone's `.git`
 * without starting git, else `unknown`.
 */
export const readRevision = (folder: string = packageRoot): string => {
  const commit = read(join(folder, 'REVISION')) ?? readCommit(folder);
  return commit !== null && commitId.test(commit) ? commit.slice(0, shownLength) : 'unknown';
};
