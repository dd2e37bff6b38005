/** Sets the branch that a clone checks out. The service knows it; HEAD is updated on the next read. */
import { constants } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError, hasCode } from '../git_error.ts';
import { syncFolder } from '../disk/sync_folders.ts';
import { clearLocksOnce } from '../storage/stale_locks.ts';
import type { Head } from '../protocol.ts';
import { raiseGeneration } from '../refs/ref_generation.ts';
import { isFullRef } from '../ref_names.ts';

const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** Writes HEAD as git does: other readers, or a crash, see the old or the new text. */
const write = async (dir: string, text: string): Promise<void> => {
  const lock = join(dir, 'HEAD.lock');
  const file = await open(lock, flags, 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    await rename(lock, join(dir, 'HEAD'));
  } catch (error) {
    await rm(lock, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await syncFolder(dir);
};

/** @param dir a repository that exists */
export const updateHead = async (dir: string, head: Head | undefined): Promise<void> => {
  if (head === null || head === undefined) return;
  if (!isFullRef(head) || !head.startsWith('refs/heads/'))
    throw new GitError('invalid', 'no branch for HEAD');
  const text = `ref: ${head}\n`;
  if ((await readFile(join(dir, 'HEAD'), 'utf8')) === text) return;
  await clearLocksOnce(dir);
  try {
    await write(dir, text);
  } catch (error) {
    // Another process is writing it.
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  raiseGeneration(dir);
};
