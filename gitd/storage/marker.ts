/** The marker of a storage: a file at its root with the id of the instance whose repositories it holds. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, readdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from './durable.ts';

export const markerName = 'gantry-instance';

/** What a storage says of itself before it is used. */
export type StorageState = {
  /** null: it has no marker. */
  instance: string | null;
  isEmpty: boolean;
  /** How many of the repositories that were asked for it holds. */
  held: number;
};

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/** The id in the marker of a folder; null: there is no marker, or no such folder. */
export const readMarker = async (root: string): Promise<string | null> => {
  try {
    return (await readFile(join(root, markerName), 'utf8')).trim() || null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

/** Marks a folder, which is made where it is missing; on disk with the answer. */
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
  for (const folder of [root, dirname(root)]) await syncFolder(folder); // oxlint-disable-line no-await-in-loop -- two
};

const namesIn = async (folder: string): Promise<string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

/** Whether a folder holds a repository, this many folders below. */
const holdsRepository = async (folder: string, depth: number): Promise<boolean> => {
  const names = await namesIn(folder);
  if (depth === 0) return names.some((name) => name.endsWith('.git'));
  for (const name of names) {
    // oxlint-disable-next-line no-await-in-loop -- the first is enough
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

/** @param repositories paths below the root of some that should be there */
export const inspectStorage = async (
  root: string,
  repositories: readonly string[],
): Promise<StorageState> => {
  const there = await Promise.all(repositories.map(async (path) => await isFile(join(root, path, 'HEAD'))));
  const instance = await readMarker(root);
  return {
    instance,
    isEmpty: instance === null && !(await holdsRepository(join(root, '@hashed'), 2)),
    held: there.filter(Boolean).length,
  };
};
