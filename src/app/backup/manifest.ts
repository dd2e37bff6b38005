/**
 * Manifest of a backup. `backups/<name>.json` is written last: without it there is no backup. It lists the objects:
 * files under `objects/` that are named by their SHA-256 and shared by all backups of a location.
 */
import { hash, randomBytes } from 'node:crypto';
import { StartFailure } from '../../platform/errors.ts';

/** Format 1 has the database as a file, format 2 in chunks. Both are read. */
export const formatVersion = 2;
const readableFormats: readonly number[] = [1, formatVersion];

/** An object of the backup: its digest and its size in bytes. */
export type StoredObject = { sha256: string; size: number };

/** Bytes of a restored instance. */
export type Sizes = {
  /** The database as a SQLite file. */
  database: number;
  repositories: number;
  /** Artifacts, uploads, avatars and job logs. */
  files: number;
};

export type Manifest = {
  format: number;
  name: string;
  instance: string;
  /** Version of the program that wrote it, and the newest migration of the database. */
  version: string;
  migration: string;
  /** Milliseconds since 1970 of the point whose state it has. */
  created_at: number;
  engine: 'sqlite' | 'postgres';
  /** Format 2: the list of its chunks (`database_chunks.ts`). Format 1: a SQLite file. Compressed by zstd. */
  database: StoredObject;
  /** Lines of `ContentLine`, compressed by zstd. */
  contents: StoredObject;
  /** null if the secrets are kept elsewhere. */
  secrets: StoredObject | null;
  /** Rows of each table. */
  tables: { [table: string]: number };
  counts: { repositories: number; refs: number; blobs: number; logs: number };
  /** Bytes of a restored instance; absent from backups of earlier versions. */
  sizes?: Sizes;
  /** Files that rows refer to and that were missing or damaged. */
  problems: string[];
};

/** Bytes of an artifact, an upload, an avatar or a log, in an area of the store of bytes. */
export type BlobLine = { kind: 'blob'; area: string } & StoredObject;
/** A log in the data folder. `masked`: secrets were replaced, so its checksum is not the checksum of the bytes sent. */
export type LogLine = { kind: 'log'; path: string; masked: boolean } & StoredObject;
/** A repository: packs to store in this order, and its refs, lines `<oid> <name>`. */
export type RepositoryLine = {
  kind: 'repository';
  project_id: number;
  storage: string;
  path: string;
  packs: StoredObject[];
  refs: StoredObject;
};
export type ContentLine = BlobLine | LogLine | RepositoryLine;

const namePattern = /^\d{8}T\d{6}Z-[0-9a-f]{8}$/;
const digestPattern = /^[0-9a-f]{64}$/;

/** Names sort by time. */
export const makeName = (now: number): string => {
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${time}-${randomBytes(4).toString('hex')}`;
};

export const isBackupName = (text: string): boolean => namePattern.test(text);

export const manifestPath = (name: string): string => `backups/${name}.json`;

/** Writes the manifest with a checksum of its text. */
export const formatManifest = (manifest: Manifest): string => {
  const text = JSON.stringify(manifest);
  return `${JSON.stringify({ manifest: text, sha256: hash('sha256', text) })}\n`;
};

const isObject = (value: StoredObject | null | undefined): boolean =>
  value !== null &&
  value !== undefined &&
  digestPattern.test(value.sha256) &&
  Number.isSafeInteger(value.size);

/**
 * Reads a manifest, which may be damaged or made by somebody else.
 * @throws StartFailure
 */
export const parseManifest = (name: string, text: string): Manifest => {
  const refuse = (why: string): StartFailure => new StartFailure(`the backup ${name} cannot be read: ${why}`);
  let manifest: Manifest;
  try {
    const outer = JSON.parse(text) as { manifest: string; sha256: string };
    if (hash('sha256', outer.manifest) !== outer.sha256) throw new Error('its checksum is wrong');
    manifest = JSON.parse(outer.manifest) as Manifest;
  } catch (error) {
    throw refuse((error as Error).message);
  }
  if (!readableFormats.includes(manifest.format))
    throw refuse(`its format ${manifest.format} is of another version`);
  const objects = [
    manifest.database,
    manifest.contents,
    ...(manifest.secrets === null ? [] : [manifest.secrets]),
  ];
  if (manifest.name !== name || !objects.every(isObject)) throw refuse('it is not whole');
  return manifest;
};

const areaPattern = /^(?:projects\/\d+(?:\/artifacts|\/traces\/\d+)?|avatars\/[0-9a-f]+)$/;
const logPattern = /^\d+\/\d+(?:-[0-9a-f]+)?\.log$/;
const repositoryPattern = /^@hashed\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{64}\.git$/;

const isLine = (line: ContentLine): boolean => {
  if (line.kind === 'blob') return areaPattern.test(line.area) && isObject(line);
  if (line.kind === 'log') return logPattern.test(line.path) && isObject(line);
  return (
    line.kind === 'repository' &&
    repositoryPattern.test(line.path) &&
    Number.isSafeInteger(line.project_id) &&
    typeof line.storage === 'string' &&
    isObject(line.refs) &&
    line.packs.every(isObject)
  );
};

/** Reads a line of the contents. No line of a tampered backup leads out of a folder. @throws StartFailure */
export const parseContentLine = (text: string): ContentLine => {
  const line = JSON.parse(text) as ContentLine;
  if (!isLine(line))
    throw new StartFailure(
      `the contents of the backup have a line that is not allowed: ${text.slice(0, 200)}`,
    );
  return line;
};
