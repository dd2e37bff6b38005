/** Reads and writes the marker of a storage: a file at its root with the id of the instance that owns it. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isMissing } from './is_missing.ts';
import { syncFolder } from './sync_folders.ts';

export const markerName = 'gantry-instance';

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
