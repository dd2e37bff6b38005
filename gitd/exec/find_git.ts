import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Finds git on the search path, then in the usual folders. */
export const findGit = (path: string = process.env['PATH'] ?? ''): string => {
  const folders = [...path.split(delimiter), '/usr/bin', '/bin', '/usr/local/bin'];
  const candidates = folders.filter((folder) => folder.startsWith('/')).map((folder) => join(folder, 'git'));
  return candidates.find((file) => existsSync(file)) ?? 'git';
};
