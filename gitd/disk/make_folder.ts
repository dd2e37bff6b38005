import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../git_error.ts';

/**
 * Creates the first missing folder of a path.
 * @returns the folder; undefined if it exists meanwhile
 * @throws the system error
 */
const makeFirst = async (folder: string, mode: number): Promise<string | undefined> => {
  try {
    await mkdir(folder, { mode });
    return folder;
  } catch (error) {
    const parent = dirname(folder);
    if (hasCode(error, 'EEXIST')) return undefined;
    if (!hasCode(error, 'ENOENT') || parent === folder) throw error;
    return await makeFirst(parent, mode);
  }
};

/**
 * Creates a folder and its missing parents. On a disk that is read-only or fails, a recursive `mkdir` of Node reports
 * ENOENT; this throws the error of the system.
 * @returns the first folder that it created; undefined if all existed
 */
export const makeFolder = async (folder: string, mode = 0o777): Promise<string | undefined> => {
  try {
    return await mkdir(folder, { recursive: true, mode });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    const first = await makeFirst(folder, mode);
    const next = await mkdir(folder, { recursive: true, mode });
    return first ?? next;
  }
};
