/** Checks that the disks have enough free space before a backup writes to them. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isMissing } from '../../../platform/blob/file_system.ts';
import type { Config } from '../../../platform/config/fields.ts';
import type { Store } from '../../../platform/db/open.ts';
import { getLocalRoot } from '../../../platform/git/storages.ts';
import { measureRemoteRepositories } from './measure_remote.ts';
import { measureDatabase, measureFiles } from '../../service/measure_instance.ts';
import { requireSpace, scratchRemedy } from '../../service/require_space.ts';

export type SpaceParts = {
  config: Config;
  store: Store;
  instance: string;
  to: string;
  kind: 'folder' | 'archive' | 'bucket';
  scratch: string;
};

const measureFile = async (path: string): Promise<number> => {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return 0; // git removed the file after it was listed
    throw error;
  }
};

const measureFolder = async (folder: string): Promise<number> => {
  let size = 0;
  try {
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name);
      size += entry.isDirectory() ? await measureFolder(path) : await measureFile(path);
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return size;
};

/** Returns the total size of files and repositories in bytes, including repositories on other machines. */
const measureContent = async ({ config, store, instance }: SpaceParts): Promise<number> => {
  let size = (await measureFiles(store)) + (await measureRemoteRepositories({ config, store }, instance));
  for (const site of config.repository_storages)
    if (site.address === null) size += await measureFolder(getLocalRoot(config.data, site));
  return size;
};

/** Returns the nearest folder of a path that exists. */
export const findExisting = (path: string): string => (existsSync(path) ? path : findExisting(dirname(path)));

const hasBackups = (root: string): boolean => {
  const folder = join(root, 'backups');
  return existsSync(folder) && readdirSync(folder).length > 0;
};

/**
 * Checks the folder of backups. The first backup writes everything. How much a later one adds is unknown in advance, so
 * only the whole database is counted.
 */
const requirePlace = async (parts: SpaceParts, database: number): Promise<void> => {
  const root = resolve(parts.to);
  const content = hasBackups(root) ? 0 : await measureContent(parts);
  const folder = findExisting(root);
  const isShared = statSync(folder).dev === statSync(parts.scratch).dev;
  requireSpace({
    folder,
    bytes: content + database * (isShared ? 2 : 1),
    purpose: 'the backup',
    remedy: 'free some space, or choose a place on another disk',
  });
};

/** @throws StartFailure if a disk has too little free space */
export const requireSpaceForBackup = async (parts: SpaceParts): Promise<void> => {
  const { store, kind, scratch: folder } = parts;
  const database = await measureDatabase(store);
  const content = kind === 'archive' ? await measureContent(parts) : 0;
  const purpose = kind === 'archive' ? 'the backup before it is packed' : 'the copy of the database';
  requireSpace({ folder, bytes: database + content, purpose, remedy: scratchRemedy });
  if (kind === 'folder') await requirePlace(parts, database);
};
