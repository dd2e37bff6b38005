/** Opens the place that an operator names: a folder, `FILE.tar.zst` or `s3://BUCKET/PREFIX`. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../platform/config/fields.ts';
import { extractArchive, packFolder } from './places/archive.ts';
import type { BackupPlace, BackupReader } from './places/backup_place.ts';
import { openFolderPlace, openFolderReader } from './places/folder_place.ts';
import { requireSpace, scratchRemedy } from '../service/require_space.ts';

export const isArchive = (text: string): boolean => text.endsWith('.tar.zst');
export const isBucket = (text: string): boolean => text.startsWith('s3://');

export type OpenedPlace = {
  place: BackupPlace;
  /** Completes a backup: writes the archive. */
  finish: () => Promise<void>;
};

const countBytes = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

export type BackupPlaceOptions = {
  to: string;
  instance: string;
  /** A folder for what becomes an archive, which the caller removes. */
  scratch: string;
};

/** Opens a place for a backup of an instance. */
export const openPlace = async (
  config: Config,
  { to, instance, scratch }: BackupPlaceOptions,
): Promise<OpenedPlace> => {
  if (isBucket(to)) {
    const { openBucketPlace } = await import('./places/bucket_place.ts');
    return { place: await openBucketPlace(config, to, instance), finish: async () => undefined };
  }
  if (!isArchive(to))
    return { place: await openFolderPlace(resolve(to), instance), finish: async () => undefined };
  const folder = join(scratch, 'archive');
  return {
    place: { ...(await openFolderPlace(folder, instance)), label: to },
    finish: async () => {
      requireSpace({
        folder: dirname(resolve(to)),
        bytes: countBytes(folder),
        purpose: to,
        remedy: 'free some space, or choose a file on another disk',
      });
      await packFolder(folder, resolve(to));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/**
 * Opens a place for reading.
 * @param scratch a folder for the content of an archive, which the caller removes
 */
export const openPlaceToRead = async (
  config: Config,
  from: string,
  scratch: string,
): Promise<BackupReader> => {
  if (isBucket(from)) {
    const { openBucketPlace } = await import('./places/bucket_place.ts');
    return await openBucketPlace(config, from, null);
  }
  if (!isArchive(from)) return await openFolderReader(resolve(from));
  const folder = join(scratch, 'archive');
  rmSync(folder, { recursive: true, force: true });
  // Its content hardly compresses, so it is about as large as the file.
  const { size } = statSync(resolve(from), { throwIfNoEntry: false }) ?? { size: 0 };
  requireSpace({ folder: scratch, bytes: size, purpose: `extracting ${from}`, remedy: scratchRemedy });
  await extractArchive(resolve(from), folder);
  return { ...(await openFolderReader(folder)), label: from, writeText: null };
};
