import { open, stat } from 'node:fs/promises';

export const isMissing = (error: unknown): boolean => (error as { code?: unknown }).code === 'ENOENT';

/** Returns the size of a file in bytes; null: there is none. */
export const readSize = async (file: string): Promise<number | null> => {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

/** Syncs a folder, so that the names in it survive a power cut. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
