/** Removes old backups, and the objects that only they had. */
import { readContents } from './contents.ts';
import { listChunks, loadStoredDatabase } from './database_chunks.ts';
import { type ContentLine, type Manifest, manifestPath } from './manifest.ts';
import {
  type BackupPlace,
  forgetDamage,
  listBackups,
  listDamage,
  loadManifest,
  objectArea,
} from './places/backup_place.ts';

const digestsOf = (line: ContentLine): string[] =>
  line.kind === 'repository' ? [line.refs.sha256, ...line.packs.map(({ sha256 }) => sha256)] : [line.sha256];

const addObjects = async (place: BackupPlace, manifest: Manifest, needed: Set<string>): Promise<void> => {
  for (const object of [manifest.database, manifest.contents, manifest.secrets])
    if (object !== null) needed.add(object.sha256);
  const database = await loadStoredDatabase(place, manifest);
  for (const digest of database === null ? [] : listChunks(database)) needed.add(digest);
  for await (const line of readContents(place, manifest))
    for (const digest of digestsOf(line)) needed.add(digest);
};

/** Collects the objects of backups. @returns why one of them cannot be read; null: all can */
const collectNeeded = async (
  place: BackupPlace,
  names: readonly string[],
  needed: Set<string>,
): Promise<string | null> => {
  for (const name of names)
    try {
      await addObjects(place, await loadManifest(place, name), needed);
    } catch (error) {
      return `the backup ${name} cannot be read (${(error as Error).message})`;
    }
  return null;
};

/**
 * Keeps the newest backups, and of the verified ones the newest, and removes the others. Objects are removed only where
 * every remaining backup can be read.
 * @param verified names of backups that were verified
 * @returns warnings for the operator
 */
export const removeOldBackups = async (
  place: BackupPlace,
  keep: number,
  verified: ReadonlySet<string>,
): Promise<string[]> => {
  const names = await listBackups(place);
  const newest = names.findLast((name) => verified.has(name));
  const old = names.slice(0, -keep).filter((name) => name !== newest);
  if (old.length === 0) return [];
  const needed = new Set<string>();
  const left = names.filter((name) => !old.includes(name));
  const unreadable = await collectNeeded(place, left, needed);
  for (const name of old) await place.removeText(manifestPath(name));
  if (unreadable !== null)
    return [`${unreadable}: the files of removed backups stay until it is removed, too`];
  const unneeded: string[] = [];
  for await (const { sha256 } of place.listObjects()) if (!needed.has(sha256)) unneeded.push(sha256);
  for (const digest of unneeded) await place.blobs.remove(objectArea, digest);
  for (const digest of await listDamage(place)) if (!needed.has(digest)) await forgetDamage(place, digest);
  return [];
};
