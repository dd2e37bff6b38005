import { mkdir } from 'node:fs/promises';

/**
 * Runs `put`. If the folder is missing, creates it and tries again, because housekeeping may remove the empty folder in
 * between.
 */
export const retryWithFolder = async <T>(folder: string, put: () => Promise<T>, tries = 3): Promise<T> => {
  try {
    return await put();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === 1) throw error;
    await mkdir(folder, { recursive: true });
    return retryWithFolder(folder, put, tries - 1);
  }
};
