/** Restores a backup into an empty instance. Writes the database last, so that an incomplete restore cannot start. */
import { createWriteStream, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { openConfiguredBlobs } from '../../platform/blob/open_stores.ts';
import { syncFolder } from '../../platform/blob/file_system.ts';
import { getS3Location } from '../../platform/config/blobs.ts';
import type { Config } from '../../platform/config/fields.ts';
import { migrate } from '../../platform/db/migrate.ts';
import { openSqliteReader } from '../../platform/db/transfer/sqlite_tables.ts';
import { StartFailure } from '../../platform/errors.ts';
import { forEachConcurrently } from '../../platform/for_each_concurrently.ts';
import { openInstance } from '../service/open_instance.ts';
import { movedName } from '../service/instance_record.ts';
import { databaseFile, openAnyStore, toCommandParts } from '../service/open_database.ts';
import { openStorages } from '../service/open_storages.ts';
import { makeQuiet, markQuiet } from '../service/quiet.ts';
import { secretsPath } from '../service/secrets.ts';
import { readContents } from './contents.ts';
import { loadStoredDatabase, writeDatabase } from './database_chunks.ts';
import type { Manifest } from './manifest.ts';
import { fillDatabase } from './move_database.ts';
import { type BackupReader, openObject } from './places/backup_place.ts';
import { type Restoring, restoreLine, syncFile, writeObject } from './restore_files.ts';
import { claimTarget, endRestore } from './restore_target.ts';
import { openSnapshot, workFolder } from './snapshot.ts';

export type RestoreParts = {
  config: Config;
  place: BackupReader;
  manifest: Manifest;
  /** The restored copy is verified and deleted. */
  isTrial?: boolean;
  /** The result sends nothing, until it is activated. */
  isQuiet?: boolean;
  /** Called when a part begins, with the number of its items, and after each of them. */
  onPart: (label: string, total: number) => void;
  advance: () => void;
};

/** Writes the database of a backup to a file in a folder. */
export const extractDatabase = async (
  { config, place, manifest }: Pick<RestoreParts, 'config' | 'place' | 'manifest'>,
  folder: string,
): Promise<string> => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = databaseFile({ data: folder });
  const stored = await loadStoredDatabase(place, manifest);
  if (stored !== null) {
    await writeDatabase(place, stored, { config, file });
    return file;
  }
  await pipeline(
    await openObject(place, manifest.database.sha256),
    createZstdDecompress(),
    createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }),
  );
  return file;
};

/**
 * Releases what processes of the copied instance held, because that instance may still run next to the restored
 * instance: ref operations, background work, blob claims, the backup itself, and a move of the database.
 */
const releaseHolds = (file: string): void => {
  const database = new DatabaseSync(file);
  database.exec(`update git_operations set process = 'restored' where process <> 'dropped';
    update work set locked_until = null, locked_by = null where locked_until is not null;
    delete from byte_holds;
    delete from instance where name = '${movedName}';
    update backups set held_until = null where held_until is not null`);
  database.close();
};

/** Records in the copy, before it takes its place, that it is quiet: the restore may end before its last step. */
const markFile = (file: string): void => {
  const database = new DatabaseSync(file);
  markQuiet(database);
  database.close();
};

/** Lists the storages of projects. @throws StartFailure if one is not configured */
const requireStorages = (file: string, config: Config): void => {
  const snapshot = openSnapshot(file);
  const rows = snapshot.all<{ name: string }>(
    'select distinct repository_storage as name from projects where deleted_at is null order by 1',
  );
  snapshot.close();
  const missing = rows.find(({ name }) => !config.repository_storages.some((site) => site.name === name));
  if (missing === undefined) return;
  throw new StartFailure(
    `projects of the backup are in the storage "${missing.name}": name it in GANTRY_REPOSITORY_STORAGES`,
  );
};

/** Logs that several services share are rows and objects, which only such services read. */
const requireSharedLogs = (file: string, { config, isTrial = false }: RestoreParts): void => {
  const isShared = config.database_url !== null && getS3Location(config) !== null;
  if (isTrial || isShared) return;
  const snapshot = openSnapshot(file);
  const rows = snapshot.all('select 1 from shared_traces limit 1');
  snapshot.close();
  if (rows.length === 0) return;
  throw new StartFailure(
    'the backup has job logs that several services share: restore it with GANTRY_DATABASE_URL and GANTRY_BLOB_S3_... set',
  );
};

/** Files and repositories restored at once: each waits for a disk or a bucket. */
const concurrency = 8;

const restoreFiles = async ({ config, place, manifest, onPart, advance }: RestoreParts): Promise<void> => {
  const { repositories, blobs, logs } = manifest.counts;
  onPart('repositories and files restored', repositories + blobs + logs);
  const git = openStorages(config, manifest.instance);
  const bytes = await openConfiguredBlobs(config, { warn: () => undefined });
  try {
    const restoring: Restoring = { place, blobs: bytes.opened, git, data: config.data };
    await forEachConcurrently(readContents(place, manifest), concurrency, async (line) => {
      await restoreLine(restoring, line);
      advance();
    });
  } finally {
    await bytes.close();
    await git.stop();
  }
};

/** Puts the database in its place. On PostgreSQL, first creates the schema of this version, then copies all rows. */
const restoreDatabase = async ({ config }: RestoreParts, file: string): Promise<void> => {
  if (config.database_url === null) {
    await syncFile(file);
    renameSync(file, databaseFile(config));
    await syncFolder(config.data);
    return;
  }
  const local = { ...config, database_url: null, data: dirname(file) };
  const store = await openAnyStore(toCommandParts(local));
  try {
    await migrate(store);
  } finally {
    await store.close();
  }
  const reader = openSqliteReader(file);
  try {
    await fillDatabase(reader, config);
  } finally {
    reader.close();
  }
};

const fillTarget = async (restore: RestoreParts, file: string): Promise<void> => {
  const { config, place, manifest, onPart, advance } = restore;
  await restoreFiles(restore);
  if (manifest.secrets !== null) await writeObject(place, manifest.secrets, secretsPath(config));
  onPart('database restored', 1);
  await restoreDatabase(restore, file);
  advance();
};

/**
 * Restores everything and brings the database to the schema of this version.
 * @throws StartFailure if the target is in use or the backup is damaged. After an interruption, the same restore
 * continues
 */
export const restoreBackup = async (restore: RestoreParts): Promise<void> => {
  const { config, manifest, isQuiet = false } = restore;
  const folder = join(workFolder(config), 'database');
  try {
    const file = await extractDatabase(restore, folder);
    releaseHolds(file);
    if (isQuiet) markFile(file);
    requireStorages(file, config);
    requireSharedLogs(file, restore);
    if (!(await claimTarget(config, { manifest, isQuiet }))) await fillTarget(restore, file);
    const { store } = await openInstance(toCommandParts(config));
    try {
      if (isQuiet) await makeQuiet(store, manifest.name);
    } finally {
      await store.close();
    }
    endRestore(config);
  } finally {
    rmSync(workFolder(config), { recursive: true, force: true });
  }
};
