import { open } from 'node:fs/promises';

export const isMissing = (error: unknown): boolean => (error as { code?: unknown }).code === 'ENOENT';

/** Syncs a folder, so that the names in it survive a power cut. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
