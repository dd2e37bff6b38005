import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageRoot } from '../platform/package_files.ts';

const abbreviatedLength = 11;
const commitId = /^[0-9a-f]{40,64}$/;

const readOrNull = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
};

/** Returns `.git`, or the folder that a worktree's `.git` file points to. */
const gitFolder = (folder: string): string => {
  const path = join(folder, '.git');
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return path;
  return resolve(folder, (readOrNull(path) ?? '').replace(/^gitdir: */, ''));
};

const readPackedRef = (folder: string, ref: string): string | null => {
  const line = (readOrNull(join(folder, 'packed-refs')) ?? '')
    .split('\n')
    .find((entry) => entry.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? null;
};

const readCommit = (folder: string): string | null => {
  const git = gitFolder(folder);
  const head = readOrNull(join(git, 'HEAD'));
  if (head === null || !head.startsWith('ref: ')) return head;
  const ref = head.slice('ref: '.length);
  const commonDir = resolve(git, readOrNull(join(git, 'commondir')) ?? '.');
  return readOrNull(join(git, ref)) ?? readOrNull(join(commonDir, ref)) ?? readPackedRef(commonDir, ref);
};

/**
 * Returns the abbreviated id of the running commit: from the package's `REVISION` file, otherwise read directly from
 * the clone's `.git`, otherwise `unknown`.
 */
export const readRevision = (folder: string = packageRoot): string => {
  const commit = readOrNull(join(folder, 'REVISION')) ?? readCommit(folder);
  return commit !== null && commitId.test(commit) ? commit.slice(0, abbreviatedLength) : 'unknown';
};
