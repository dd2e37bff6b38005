import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageState } from '../protocol_records.ts';
import { readMarker } from './instance_marker.ts';
import { isMissing } from './is_missing.ts';

const namesIn = async (folder: string): Promise<string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

/** Returns whether a folder contains a repository, `depth` folders below. */
const holdsRepository = async (folder: string, depth: number): Promise<boolean> => {
  const names = await namesIn(folder);
  if (depth === 0) return names.some((name) => name.endsWith('.git'));
  for (const name of names) {
    if (await holdsRepository(join(folder, name), depth - 1)) return true;
  }
  return false;
};

const isFile = async (path: string): Promise<boolean> => {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
};

/**
 * Inspects a storage before it is claimed.
 * @param repositories paths below the root of repositories that should exist
 */
export const inspectStorage = async (
  root: string,
  repositories: readonly string[],
): Promise<StorageState> => {
  const present = await Promise.all(repositories.map(async (path) => await isFile(join(root, path, 'HEAD'))));
  const instance = await readMarker(root);
  return {
    instance,
    isEmpty: instance === null && !(await holdsRepository(join(root, '@hashed'), 2)),
    held: present.filter(Boolean).length,
  };
};
