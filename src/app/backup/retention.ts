/** Removes old backups, and the objects that only they had. */
import { readContents } from './contents.ts';
import { listChunks, loadStoredDatabase } from './database_chunks.ts';
import { type ContentLine, type Manifest, manifestPath } from './manifest.ts';
import { type BackupPlace, listBackups, loadManifest, objectArea } from './places/backup_place.ts';

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

/**
 * Keeps the newest backups and removes the others. Objects are removed only where every remaining backup can be read.
 * @returns the names of the backups that were removed
 */
export const removeOldBackups = async (place: BackupPlace, keep: number): Promise<string[]> => {
  const names = await listBackups(place);
  const old = names.slice(0, -keep);
  if (old.length === 0) return [];
  const needed = new Set<string>();
  for (const name of names.slice(-keep)) await addObjects(place, await loadManifest(place, name), needed);
  for (const name of old) await place.removeText(manifestPath(name));
  const unneeded: string[] = [];
  for await (const digest of place.listObjects()) if (!needed.has(digest)) unneeded.push(digest);
  for (const digest of unneeded) await place.blobs.remove(objectArea, digest);
  return old;
};
