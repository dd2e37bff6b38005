/** Syncs folders, whose entries a file system may otherwise lose in a power cut. */
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isMissing } from './is_missing.ts';

/** Syncs a folder; false if it does not exist. */
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

/** Lists the folders from a ref's up to the repository's own. Any of them may be new or have lost an entry. */
const listParentFolders = (dir: string, ref: string): string[] => {
  const folders: string[] = [];
  for (let folder = dirname(ref); folder !== '.'; folder = dirname(folder)) folders.push(join(dir, folder));
  return folders;
};

/**
 * Syncs the folders of changed refs; git syncs the files only.
 * @param withDeletions whether a ref was deleted, which rewrites `packed-refs`
 */
export const syncRefs = async (
  dir: string,
  refs: readonly string[],
  withDeletions: boolean,
): Promise<void> => {
  const folders = new Set(refs.flatMap((ref) => listParentFolders(dir, ref)));
  // `refs/heads` and `refs/tags` always exist.
  if (refs.every((ref) => /^refs\/(?:heads|tags)\//.test(ref))) folders.delete(join(dir, 'refs'));
  if (withDeletions) folders.add(dir);
  await Promise.all([...folders].map(syncFolder));
};
