/** What a file system forgets in a power cut unless it is told: the entries of folders. */
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Answers whether the folder is there. */
export const syncFolder = async (folder: string): Promise<boolean> => {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
};

/** From the folder of a ref up to the repository's own: any of them may be new, or may have lost an entry. */
const foldersOf = (dir: string, ref: string): string[] => {
  const folders: string[] = [];
  for (let folder = dirname(ref); folder !== '.'; folder = dirname(folder)) folders.push(join(dir, folder));
  return folders;
};

/**
 * Makes changes of refs last that git has made: it syncs the files alone.
 * @param withDeletions whether one was deleted, which rewrites `packed-refs`
 */
export const syncRefs = async (
  dir: string,
  refs: readonly string[],
  withDeletions: boolean,
): Promise<void> => {
  const folders = new Set(refs.flatMap((ref) => foldersOf(dir, ref)));
  // These two are never new.
  if (refs.every((ref) => /^refs\/(?:heads|tags)\//.test(ref))) folders.delete(join(dir, 'refs'));
  if (withDeletions) folders.add(dir);
  await Promise.all([...folders].map(syncFolder));
};
