/** A place of backups: a folder, a bucket, or a folder that an archive was extracted to. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Blobs } from '../../../platform/blob/blob_files.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { type Manifest, isBackupName, manifestPath, parseManifest } from '../manifest.ts';

/** Area of all objects in the store of bytes. */
export const objectArea = 'objects';

export type BackupReader = {
  label: string;
  blobs: Pick<Blobs, 'get'>;
  /** File names in `backups/`. */
  listManifests: () => Promise<string[]>;
  readText: (path: string) => Promise<string | null>;
};

export type BackupPlace = BackupReader & {
  blobs: Blobs;
  writeText: (path: string, text: string) => Promise<void>;
  removeText: (path: string) => Promise<void>;
  /** Digests of all objects. */
  listObjects: () => AsyncIterable<string>;
};

/** Lists the names of all backups, oldest first. */
export const listBackups = async (place: BackupReader): Promise<string[]> =>
  (await place.listManifests())
    .map((file) => file.replace(/\.json$/, ''))
    .filter(isBackupName)
    .toSorted();

export const loadManifest = async (place: BackupReader, name: string): Promise<Manifest> => {
  const text = isBackupName(name) ? await place.readText(manifestPath(name)) : null;
  if (text === null) throw new StartFailure(`there is no backup ${name} in ${place.label}`);
  return parseManifest(name, text);
};

/**
 * Loads the newest backup, or the one with a name.
 * @throws StartFailure if it does not exist
 */
export const findManifest = async (place: BackupReader, name: string | undefined): Promise<Manifest> => {
  const newest = name ?? (await listBackups(place)).at(-1);
  if (newest === undefined) throw new StartFailure(`there is no backup in ${place.label}`);
  return await loadManifest(place, newest);
};

const checkDigest = async function* checkDigest(
  content: AsyncIterable<Buffer>,
  sha256: string,
  label: string,
): AsyncGenerator<Buffer> {
  const digest = createHash('sha256');
  for await (const chunk of content) {
    digest.update(chunk);
    yield chunk;
  }
  if (digest.digest('hex') !== sha256)
    throw new StartFailure(`${label}: the object ${sha256} is damaged: use another backup`);
};

/** Opens an object. Its end fails if it is damaged. @throws StartFailure if it is missing */
export const openObject = async (place: BackupReader, sha256: string): Promise<Readable> => {
  const stream = await place.blobs.get(objectArea, sha256);
  if (stream === null)
    throw new StartFailure(`${place.label} lacks the object ${sha256}: use another backup`);
  return Readable.from(checkDigest(stream as AsyncIterable<Buffer>, sha256, place.label), {
    objectMode: false,
  });
};

export const readObject = async (place: BackupReader, sha256: string): Promise<Buffer> =>
  await buffer(await openObject(place, sha256));
