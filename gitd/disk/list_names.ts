import { readdir } from 'node:fs/promises';

/** Lists the names in a folder; none if it cannot be read. */
export const listNames = async (folder: string): Promise<string[]> => await readdir(folder).catch(() => []);
