/** Opens the place that an operator names: a folder, `FILE.tar.zst` or `s3://BUCKET/PREFIX`. */
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../../platform/config/fields.ts';
import { extractArchive, packFolder } from './places/archive.ts';
import type { BackupPlace, BackupReader } from './places/backup_place.ts';
import { openFolderPlace, openFolderReader } from './places/folder_place.ts';
import { workFolder } from './snapshot.ts';

const isArchive = (text: string): boolean => text.endsWith('.tar.zst');
const isBucket = (text: string): boolean => text.startsWith('s3://');

export type OpenedPlace = {
  place: BackupPlace;
  /** Completes a backup: writes the archive. */
  finish: () => Promise<void>;
};

/** Opens a place for a backup of an instance. */
export const openPlace = async (config: Config, to: string, instance: string): Promise<OpenedPlace> => {
  if (isBucket(to)) {
    const { openBucketPlace } = await import('./places/bucket_place.ts');
    return { place: await openBucketPlace(config, to, instance), finish: async () => undefined };
  }
  if (!isArchive(to))
    return { place: await openFolderPlace(resolve(to), instance), finish: async () => undefined };
  const folder = join(workFolder(config), 'archive');
  rmSync(folder, { recursive: true, force: true });
  return {
    place: { ...(await openFolderPlace(folder, instance)), label: to },
    finish: async () => {
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
  await extractArchive(resolve(from), folder);
  return { ...(await openFolderReader(folder)), label: from, writeText: null };
};
