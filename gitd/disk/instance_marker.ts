/**
 * Reads and writes the marker of a storage, a file at its root with the id of the instance that owns it, and inspects
 * a storage before it gets one.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, readdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { StorageState } from '../protocol_records.ts';
import { syncFolder } from './sync_folders.ts';

export const markerName = 'gantry-instance';

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Reads the instance id in a folder's marker; null if there is no marker or no folder. */
export const readMarker = async (root: string): Promise<string | null> => {
  try {
    return (await readFile(join(root, markerName), 'utf8')).trim() || null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

/** Writes the marker, and creates the folder if needed. Resolves once it is on disk. */
export const writeMarker = async (root: string, instance: string): Promise<void> => {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const draft = join(root, `${markerName}.${randomBytes(6).toString('hex')}`);
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${instance}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, join(root, markerName));
  for (const folder of [root, dirname(root)]) await syncFolder(folder);
};

const namesIn = async (folder: string): Promise<string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

/** Whether a folder holds a repository, `depth` folders below. */
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
  const found = await Promise.all(repositories.map(async (path) => await isFile(join(root, path, 'HEAD'))));
  const instance = await readMarker(root);
  return {
    instance,
    isEmpty: instance === null && !(await holdsRepository(join(root, '@hashed'), 2)),
    held: found.filter(Boolean).length,
  };
};
