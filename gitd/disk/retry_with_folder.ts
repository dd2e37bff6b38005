import { makeFolder } from './make_folder.ts';
import { hasCode } from '../git_error.ts';

/**
 * Runs `put`. If the folder is missing, creates it and tries again, because housekeeping may remove the empty folder in
 * between.
 */
export const retryWithFolder = async <T>(folder: string, put: () => Promise<T>, tries = 3): Promise<T> => {
  try {
    return await put();
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || tries === 1) throw error;
    await makeFolder(folder);
    return retryWithFolder(folder, put, tries - 1);
  }
};
