/** A place of backups: a folder, a bucket, or a folder that an archive was extracted to. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Blobs } from '../../../platform/blob/blob_files.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { type Manifest, type StoredObject, isBackupName, manifestPath, parseManifest } from '../manifest.ts';

/** Area of all objects in the store of bytes. */
export const objectArea = 'objects';

/** Folder of empty files, each named by the digest of an object that a verification found damaged. */
const damageFolder = 'damaged';

export type BackupReader = {
  label: string;
  blobs: Pick<Blobs, 'get'>;
  /** File names in a folder of texts; none if it does not exist. */
  listTexts: (folder: 'backups' | typeof damageFolder) => Promise<string[]>;
  readText: (path: string) => Promise<string | null>;
  /** null: an archive, which never changes. */
  writeText: ((path: string, text: string) => Promise<void>) | null;
};

export type BackupPlace = BackupReader & {
  blobs: Blobs;
  writeText: (path: string, text: string) => Promise<void>;
  removeText: (path: string) => Promise<void>;
  listObjects: () => AsyncIterable<StoredObject>;
};

/** Lists the names of all backups, oldest first. */
export const listBackups = async (place: BackupReader): Promise<string[]> =>
  (await place.listTexts('backups'))
    .map((file) => file.replace(/\.json$/, ''))
    .filter(isBackupName)
    .toSorted();

export const loadManifest = async (place: BackupReader, name: string): Promise<Manifest> => {
  const text = isBackupName(name) ? await place.readText(manifestPath(name)) : null;
  if (text === null) throw new StartFailure(`backup ${name} not found in ${place.label}`);
  return parseManifest(name, text);
};

/**
 * Loads the newest backup, or a backup by name.
 * @throws StartFailure if it does not exist
 */
export const findManifest = async (place: BackupReader, name: string | undefined): Promise<Manifest> => {
  const newest = name ?? (await listBackups(place)).at(-1);
  if (newest === undefined) throw new StartFailure(`no backup found in ${place.label}`);
  return await loadManifest(place, newest);
};

/**
 * Records that objects are damaged, so that the next backup stores them again.
 * @returns whether it could be recorded
 */
export const recordDamage = async (place: BackupReader, digests: readonly string[]): Promise<boolean> => {
  const { writeText } = place;
  if (writeText === null) return false;
  try {
    for (const digest of digests) await writeText(`${damageFolder}/${digest}`, '');
    return true;
  } catch {
    return false; // a place that may only be read
  }
};

/** Lists the digests of objects that are known to be damaged. */
export const listDamage = async (place: BackupReader): Promise<string[]> =>
  await place.listTexts(damageFolder);

/** Forgets the damage of an object, which was stored again or removed. */
export const forgetDamage = async (place: BackupPlace, digest: string): Promise<void> =>
  await place.removeText(`${damageFolder}/${digest}`);

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
