/** Applies the pending migrations to a copy of the database, and measures them. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Config } from '../../platform/config/fields.ts';
import { appliedMigrations, migrate, selectApplied } from '../../platform/db/migrate.ts';
import type { Store } from '../../platform/db/open.ts';
import { copyDatabaseFile } from '../../platform/db/sqlite/copy_file.ts';
import { copyTables } from '../../platform/db/transfer/copy_tables.ts';
import { systemClock } from '../../platform/time.ts';
import { prepareFolder } from '../service/data_folder.ts';
import { databaseExists, databaseFile, openAnyStore, openExistingStore } from '../service/open_database.ts';
import { openReader, openWriter } from './open_tables.ts';
import { workFolder } from './snapshot.ts';

export type TriedMigration = { name: string; seconds: number };

const toParts = (config: Config) => ({ config, clock: systemClock, onFatal: () => undefined });

const measure = async (store: Store): Promise<TriedMigration[]> => {
  const tried: TriedMigration[] = [];
  await migrate(store, undefined, undefined, (name, milliseconds) =>
    tried.push({ name, seconds: milliseconds / 1000 }),
  );
  return tried;
};

const tryOnFile = async (config: Config): Promise<TriedMigration[]> => {
  const data = join(workFolder(config), 'dry_run');
  prepareFolder(data);
  try {
    await copyDatabaseFile(databaseFile(config), databaseFile({ data }));
    const store = await openExistingStore(toParts({ ...config, data }));
    try {
      return await measure(store);
    } finally {
      await store.close();
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
};

const listApplied = async (config: Config): Promise<string[]> => {
  const store = await openExistingStore(toParts(config));
  try {
    return (await appliedMigrations(store)) ?? [];
  } finally {
    await store.close();
  }
};

const dropSchema = async (store: Store, schema: string): Promise<void> =>
  void (await sql`drop schema if exists ${sql.ref(schema)} cascade`.execute(store.db));

/** Copies the current schema into another schema of the same server. */
const copySchema = async (config: Config, target: Config, store: Store): Promise<void> => {
  await migrate(store, selectApplied(await listApplied(config)));
  const reader = await openReader(config);
  try {
    const writer = await openWriter(target, '');
    try {
      await copyTables(reader, writer);
    } finally {
      await writer.close();
    }
  } finally {
    await reader.close();
  }
};

const tryInSchema = async (config: Config): Promise<TriedMigration[]> => {
  const schema = `${config.database_schema.slice(0, 48)}_dry_run`;
  const target = { ...config, database_schema: schema };
  // Left by a killed run.
  const before = await openAnyStore(toParts(target));
  await dropSchema(before, schema);
  await before.close();
  const store = await openAnyStore(toParts(target));
  try {
    await copySchema(config, target, store);
    return await measure(store);
  } finally {
    await dropSchema(store, schema);
    await store.close();
  }
};

/**
 * Tries the pending migrations next to a running service: on SQLite on a copy of the file, on PostgreSQL in a separate
 * schema, `<schema>_dry_run`.
 * @returns the duration of each; null if there is no database yet
 */
export const tryMigrations = async (config: Config): Promise<TriedMigration[] | null> => {
  if (!databaseExists(config)) return null;
  return config.database_url === null ? await tryOnFile(config) : await tryInSchema(config);
};
