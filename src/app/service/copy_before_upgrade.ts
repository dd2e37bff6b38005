/** Copies the database before it is migrated, so that an upgrade can be undone. */
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../platform/config/fields.ts';
import { migrate, selectApplied } from '../../platform/db/migrate.ts';
import { copyDatabaseFile } from '../../platform/db/sqlite/copy_file.ts';
import type { Store } from '../../platform/db/open.ts';
import { StartFailure } from '../../platform/errors.ts';
import { systemClock } from '../../platform/time.ts';
import { measureDatabase } from './measure_instance.ts';
import { requireSpace } from './require_space.ts';
import { databaseFile, openAnyStore } from './open_database.ts';

/** Number of newest copies to keep. */
const maxCopies = 2;

const upgradeFolder = (config: Pick<Config, 'data'>): string => join(config.data, 'before_upgrade');

const removeOld = (folder: string): void => {
  const names = readdirSync(folder).toSorted();
  for (const name of names.slice(0, -maxCopies)) rmSync(join(folder, name));
};

const removeDraft = (draft: string): void => {
  for (const ending of ['', '-wal', '-shm']) rmSync(`${draft}${ending}`, { force: true });
};

/** Copies all tables of a PostgreSQL schema into a SQLite file with the schema that they have, from one snapshot. */
const copyFromServer = async (
  config: Config,
  url: string,
  applied: readonly string[],
  file: string,
): Promise<void> => {
  const local = { ...config, database_url: null };
  const store = await openAnyStore(
    { config: local, clock: systemClock, onFatal: () => undefined },
    false,
    file,
  );
  try {
    await migrate(store, selectApplied(applied));
  } finally {
    await store.close();
  }
  const [{ copyTables }, { openPostgresReader }, { openSqliteWriter }] = await Promise.all([
    import('../../platform/db/transfer/copy_tables.ts'),
    import('../../platform/db/transfer/postgres_tables.ts'),
    import('../../platform/db/transfer/sqlite_tables.ts'),
  ]);
  const reader = await openPostgresReader({ url, schema: config.database_schema });
  try {
    const writer = openSqliteWriter(file);
    try {
      await copyTables(reader, writer);
    } finally {
      writer.close();
    }
  } finally {
    await reader.close();
  }
};

const copyTo = async (config: Config, applied: readonly string[], file: string): Promise<void> => {
  if (config.database_url === null) await copyDatabaseFile(databaseFile(config), file);
  else await copyFromServer(config, config.database_url, applied, file);
};

/**
 * Copies the database, if the disk has room for it.
 * @param applied the migrations that it has
 * @returns the path of the copy; null if the settings say that none is made
 * @throws StartFailure if it cannot be copied; nothing was migrated
 */
export const copyBeforeUpgrade = async (
  config: Config,
  store: Store,
  applied: readonly string[],
  now: number,
): Promise<string | null> => {
  if (!config.upgrade_copy) return null;
  const folder = upgradeFolder(config);
  const time = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const file = join(folder, `${time}-${applied.at(-1) ?? 'begin'}.sqlite`);
  const draft = join(folder, 'draft');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removeDraft(draft);
    requireSpace({
      folder,
      bytes: await measureDatabase(store),
      purpose: 'the copy',
      remedy: 'nothing was copied',
    });
    await copyTo(config, applied, draft);
    renameSync(draft, file);
    removeOld(folder);
    return file;
  } catch (error) {
    removeDraft(draft);
    throw new StartFailure(
      `the database cannot be copied to ${folder} before the upgrade (${(error as Error).message}): free some space, or make a backup and set GANTRY_UPGRADE_COPY=false; nothing was changed`,
    );
  }
};
