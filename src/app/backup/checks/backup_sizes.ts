/** Sizes of what a backup contains. */
import { readContents } from '../contents.ts';
import { loadStoredDatabase } from '../database_chunks.ts';
import type { ContentLine, Manifest, Sizes, StoredObject } from '../manifest.ts';
import type { BackupReader } from '../places/backup_place.ts';

/** How many times larger a database is than its compressed rows, about: backups of earlier versions do not say. */
const expansion = 6;
/** What git adds to the packs of a repository: an index, and files of its own. */
const repositoryOverhead = { share: 1.2, bytes: 128 * 1024 };
/** What a file takes on disk in addition to its bytes, at most. */
const blockSize = 4096;

const sum = (objects: readonly StoredObject[]): number =>
  objects.reduce((total, { size }) => total + size, 0);

/** Adds a line of the contents to the sizes. */
export const addLine = (sizes: Sizes, line: ContentLine): void => {
  if (line.kind === 'repository') sizes.repositories += sum([...line.packs, line.refs]);
  else sizes.files += line.size;
};

/** Returns the sizes of a backup; those of an earlier version are computed. */
const loadSizes = async (place: BackupReader, manifest: Manifest): Promise<Sizes> => {
  if (manifest.sizes !== undefined) return manifest.sizes;
  const stored = await loadStoredDatabase(place, manifest);
  const chunks = stored === null ? [manifest.database] : stored.tables.flatMap((table) => table.chunks);
  const sizes = { database: sum(chunks) * expansion, repositories: 0, files: 0 };
  for await (const line of readContents(place, manifest)) addLine(sizes, line);
  return sizes;
};

/** Returns about how many bytes a restore to a scratch folder writes at most. */
export const measureRestored = async (place: BackupReader, manifest: Manifest): Promise<number> => {
  const { database, repositories, files } = await loadSizes(place, manifest);
  const { counts } = manifest;
  return (
    // Twice: a migration rewrites it.
    2 * database +
    repositories * repositoryOverhead.share +
    counts.repositories * repositoryOverhead.bytes +
    files +
    (counts.blobs + counts.logs) * blockSize
  );
};
