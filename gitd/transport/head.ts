/** The branch that a clone checks out. The service knows which; the repository follows when somebody asks. */
import { constants } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../failure.ts';
import { syncFolder } from '../storage/durable.ts';
import { clearLocksOnce } from '../storage/locks.ts';
import type { Head } from '../protocol.ts';
import { refsChanged } from '../refs/generation.ts';
import { isFullRef } from '../refs/names.ts';

const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** As git writes it: another writer, or a crash, finds the old text or the new one. */
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
export const bringHead = async (dir: string, head: Head | undefined): Promise<void> => {
  if (head === null || head === undefined) return;
  if (!isFullRef(head) || !head.startsWith('refs/heads/'))
    throw new GitError('invalid', 'no branch for HEAD');
  const text = `ref: ${head}\n`;
  if ((await readFile(join(dir, 'HEAD'), 'utf8')) === text) return;
  await clearLocksOnce(dir);
  try {
    await write(dir, text);
  } catch (error) {
    // Somebody else writes it at this moment.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  refsChanged(dir);
};
