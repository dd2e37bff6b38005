import { readdirSync } from 'node:fs';

/** Lists the names in a folder; none if the folder does not exist yet. */
export const listNames = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};
