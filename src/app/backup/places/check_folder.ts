/** Checks that the folder of scheduled backups can be written, so that a mistake shows at the start and not at night. */
import { access, constants, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Returns the folder, or the nearest folder above it that exists. */
const findExisting = async (folder: string): Promise<string> => {
  const entry = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  if (entry === null && dirname(folder) !== folder) return await findExisting(dirname(folder));
  if (entry?.isDirectory() === false) throw new Error(`${folder} is no folder`);
  return folder;
};

/** Returns why backups cannot be written to a folder or FILE.tar.zst; null: they can, or the place is a bucket. */
export const findFolderProblem = async (to: string): Promise<Error | null> => {
  if (to.startsWith('s3://')) return null;
  const folder = to.endsWith('.tar.zst') ? dirname(resolve(to)) : resolve(to);
  try {
    await access(await findExisting(folder), constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return error as Error;
  }
};
