/**
 * Makes a backup while the service runs. The database comes first, at one point; then everything that its rows refer
 * to, which nothing removes meanwhile; the manifest comes last.
 */
import { createReadStream, statSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Config } from '../../platform/config/fields.ts';
import { migrationTexts } from '../../platform/db/migrations/list.ts';
import type { Store } from '../../platform/db/open.ts';
import { StartFailure } from '../../platform/errors.ts';
import { openBlobReader } from '../../platform/blob/open_reader.ts';
import { version } from '../../platform/version.ts';
import { lockFolder, prepareFolder } from '../service/data_folder.ts';
import { openStoragesAsGuest } from '../service/open_storages.ts';
import { refuseQuiet } from '../service/quiet.ts';
import { secretsPath } from '../service/secrets.ts';
import { addLine } from './checks/backup_sizes.ts';
import { isDamage } from './checks/is_damage.ts';
import { requireOwnSecrets } from './checks/require_own_secrets.ts';
import { requireSpaceForBackup } from './checks/require_space_for_backup.ts';
import { type PartProgress, loadVerified, recordBackup } from './backup_records.ts';
import { type StoredDatabase, loadStoredDatabase, saveDatabase } from './database_chunks.ts';
import { type ContentsWriter, loadEarlierLines, openContents } from './contents.ts';
import {
  type ContentLine,
  type Manifest,
  type Sizes,
  type StoredObject,
  formatManifest,
  formatVersion,
  makeName,
  manifestPath,
} from './manifest.ts';
import { isArchive, isBucket, openPlace } from './open_place.ts';
import { type BackupPlace, listBackups, loadManifest } from './places/backup_place.ts';
import { loadStoredObjects } from './places/stored_objects.ts';
import { removeOldBackups } from './retention.ts';
import { type Saving, type Storing, addObject, saveBlobs, saveLogs } from './save_blobs.ts';
import { saveRepositories } from './save_repositories.ts';
import { countRows, openSnapshot, snapshotDatabase, workFolder } from './snapshot.ts';

export type BackupParts = {
  config: Config;
  store: Store;
  instance: string;
  /** Folder, FILE.tar.zst or s3://BUCKET/PREFIX. */
  to: string;
  withSecrets: boolean;
  /** An empty folder that the caller removes. */
  scratch: string;
  now: () => number;
  /** Called when a part begins, with the number of its items, and after each of them. */
  onPart: (label: string, total: number) => void;
  advance: () => void;
  getProgress: () => PartProgress | null;
};

export type Made = {
  manifest: Manifest;
  /** Bytes that were added to the place. */
  added: number;
  /** What the operator should know about the place. The backup is whole. */
  warnings: string[];
};

const maxProblems = 1000;

type Earlier = { lines: Map<string, ContentLine>; database: StoredDatabase | null };

/** Loads what the new backup builds upon: the newest backup that can be read. */
const loadEarlier = async (place: BackupPlace, warnings: string[]): Promise<Earlier> => {
  for (const name of (await listBackups(place)).toReversed())
    try {
      const manifest = await loadManifest(place, name);
      return {
        lines: await loadEarlierLines(place, manifest),
        database: await loadStoredDatabase(place, manifest),
      };
    } catch (error) {
      if (!isDamage(error)) throw error;
      warnings.push(
        `the backup ${name} cannot be read (${(error as Error).message}): the new one does not build on it`,
      );
    }
  return { lines: new Map(), database: null };
};

const saveSecrets = async (saving: Storing, parts: BackupParts): Promise<StoredObject | null> => {
  if (!parts.withSecrets) return null;
  await requireOwnSecrets(parts);
  return await addObject(saving, createReadStream(secretsPath(parts.config)));
};

const sumRows = (tables: { [table: string]: number }, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (tables[name] ?? 0), 0);

type Step = Saving & { contents: ContentsWriter };

/** Copies repositories, bytes and logs. */
const saveFiles = async (
  saving: Step,
  { config, store, instance, onPart }: BackupParts,
  tables: Manifest['tables'],
): Promise<Manifest['counts']> => {
  const git = openStoragesAsGuest(config, instance);
  try {
    onPart('repositories saved', sumRows(tables, ['projects']));
    const repositories = await saveRepositories({ ...saving, git, db: store.db });
    onPart('files saved', sumRows(tables, ['artifacts', 'uploads']));
    const blobs = await saveBlobs(saving);
    onPart('job logs saved', sumRows(tables, ['jobs']));
    return { ...repositories, blobs, logs: await saveLogs(saving) };
  } finally {
    await git.stop();
  }
};

const getKind = (to: string): 'folder' | 'archive' | 'bucket' => {
  if (isBucket(to)) return 'bucket';
  return isArchive(to) ? 'archive' : 'folder';
};

const save = async (parts: BackupParts, place: BackupPlace, name: string): Promise<Made> => {
  const { config, now, onPart, advance, scratch: folder } = parts;
  let added = 0;
  const problems: string[] = [];
  const warnings: string[] = [];
  const objects = await loadStoredObjects(place);
  const storing = { place, objects, added: (bytes: number) => void (added += bytes) };
  const earlier = await loadEarlier(place, warnings);
  onPart('database copied', 1);
  const created_at = now();
  const file = await snapshotDatabase(config, folder);
  advance();
  const tables = await countRows(file);
  const database = await saveDatabase(storing, file, earlier.database);
  const snapshot = openSnapshot(file);
  const contents = openContents(storing);
  const { blobs } = await openBlobReader(config);
  const report = (problem: string): void => void (problems.length < maxProblems && problems.push(problem));
  const sizes: Sizes = { database: statSync(file).size, repositories: 0, files: 0 };
  const write = async (line: ContentLine): Promise<void> => {
    addLine(sizes, line);
    await contents.write(line);
  };
  const saving = {
    ...storing,
    snapshot,
    blobs,
    data: config.data,
    earlier: earlier.lines,
    contents,
    write,
    report,
    advance,
  };
  const counts = await saveFiles(saving, parts, tables);
  snapshot.close();
  const manifest: Manifest = {
    format: formatVersion,
    name,
    instance: parts.instance,
    version,
    migration: migrationTexts.at(-1)?.name ?? '',
    created_at,
    engine: parts.store.dialect.engine,
    database,
    contents: await contents.end(),
    secrets: await saveSecrets(storing, parts),
    tables,
    counts,
    sizes,
    problems,
  };
  await place.writeText(manifestPath(name), formatManifest(manifest));
  return { manifest, added, warnings };
};

/** Removes old backups. The new one is whole, so a failure is a warning. */
const removeOld = async (place: BackupPlace, { config, store }: BackupParts): Promise<string[]> => {
  try {
    return await removeOldBackups(place, config.backup_keep, await loadVerified(store.db));
  } catch (error) {
    return [`older backups could not be removed (${(error as Error).message})`];
  }
};

/** Locks the work folder. The system releases it however the process ends. */
const lockWork = (config: Config): { release: () => void } => {
  const folder = workFolder(config);
  prepareFolder(folder);
  try {
    return lockFolder(folder);
  } catch {
    throw new StartFailure('another backup of this instance is running');
  }
};

/**
 * Creates a backup, and removes the oldest backups beyond the number to keep.
 * @throws StartFailure if another backup runs, the place cannot be used, or the secrets are not those of the database
 */
export const createBackup = async (parts: BackupParts): Promise<Made> => {
  const { config, store, instance, to, now, scratch } = parts;
  await refuseQuiet(store, config);
  await requireOwnSecrets(parts);
  const name = makeName(now());
  const lock = lockWork(config);
  const record = {
    name,
    destination: to,
    holder: `${hostname()} ${config.data}`,
    now,
    getProgress: parts.getProgress,
  };
  try {
    return await recordBackup(store, record, async () => {
      await requireSpaceForBackup({ ...parts, kind: getKind(to) });
      const { place, finish } = await openPlace(config, { to, instance, scratch });
      const made = await save(parts, place, name);
      await finish();
      const warnings = await removeOld(place, parts);
      return { ...made, warnings: [...made.warnings, ...warnings] };
    });
  } finally {
    lock.release();
  }
};
