import { open } from 'node:fs/promises';

export const isMissing = (error: unknown): boolean => (error as { code?: unknown }).code === 'ENOENT';

export const isDiskFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes(String((error as { code?: unknown }).code));

/** So that a power cut does not take the names in it. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
