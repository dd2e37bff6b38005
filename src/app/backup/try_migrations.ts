/** Applies the pending migrations to a copy of the database, and measures them. */
import { sql } from 'kysely';
import type { Config } from '../../platform/config/fields.ts';
import { appliedMigrations, migrate, pendingMigrations, selectApplied } from '../../platform/db/migrate.ts';
import type { Store } from '../../platform/db/open.ts';
import { copyDatabaseFile } from '../../platform/db/sqlite/copy_file.ts';
import { copyTables } from '../../platform/db/transfer/copy_tables.ts';
import { systemClock } from '../../platform/time.ts';
import { measureDatabase, requireSpace, scratchRemedy } from '../service/disk_space.ts';
import { databaseExists, databaseFile, openAnyStore, openExistingStore } from '../service/open_database.ts';
import { openReader, openWriter } from './open_tables.ts';

export type TriedMigration = { name: string; seconds: number };
export type Tried = {
  /** How long the database took to copy, as an upgrade does first. */
  copySeconds: number;
  migrations: TriedMigration[];
};

export type TrialParts = {
  config: Config;
  /** An empty folder that the caller removes. */
  scratch: string;
  /** Called when a part begins, with the number of its items, and after each of them. */
  onPart: (label: string, total: number) => void;
  advance: () => void;
};

const toParts = (config: Config) => ({ config, clock: systemClock, onFatal: () => undefined });

/** Copies the database, and returns how long that took. */
const measureCopy = async ({ onPart, advance }: TrialParts, copy: () => Promise<void>): Promise<number> => {
  onPart('databases copied', 1);
  const begun = performance.now();
  await copy();
  advance();
  return (performance.now() - begun) / 1000;
};

const measureMigrations = async (
  store: Store,
  { onPart, advance }: TrialParts,
): Promise<TriedMigration[]> => {
  onPart('migrations tried', pendingMigrations((await appliedMigrations(store)) ?? []).length);
  const migrations: TriedMigration[] = [];
  await migrate(store, undefined, undefined, (name, milliseconds) => {
    migrations.push({ name, seconds: milliseconds / 1000 });
    advance();
  });
  return migrations;
};

/** A migration may rewrite a table, so there is room for the database twice. */
const requireSpaceForTrial = async (config: Config, folder: string): Promise<void> => {
  const store = await openExistingStore(toParts(config));
  try {
    const bytes = 2 * (await measureDatabase(store));
    requireSpace({ folder, bytes, purpose: 'a trial of the migrations', remedy: scratchRemedy });
  } finally {
    await store.close();
  }
};

const tryOnFile = async (parts: TrialParts): Promise<Tried> => {
  const { config, scratch: data } = parts;
  await requireSpaceForTrial(config, data);
  const copySeconds = await measureCopy(
    parts,
    async () => await copyDatabaseFile(databaseFile(config), databaseFile({ data })),
  );
  const store = await openExistingStore(toParts({ ...config, data }));
  try {
    return { copySeconds, migrations: await measureMigrations(store, parts) };
  } finally {
    await store.close();
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

const tryInOwnSchema = async (parts: TrialParts): Promise<Tried> => {
  const { config } = parts;
  const schema = `${config.database_schema.slice(0, 48)}_dry_run`;
  const target = { ...config, database_schema: schema };
  // Left by a killed run.
  const before = await openAnyStore(toParts(target));
  await dropSchema(before, schema);
  await before.close();
  const store = await openAnyStore(toParts(target));
  try {
    const copySeconds = await measureCopy(parts, async () => await copySchema(config, target, store));
    return { copySeconds, migrations: await measureMigrations(store, parts) };
  } finally {
    await dropSchema(store, schema);
    await store.close();
  }
};

/** Several trials share the schema, so one waits for the other. */
const tryInSchema = async (parts: TrialParts): Promise<Tried> => {
  const store = await openExistingStore(toParts(parts.config));
  try {
    return await store.runExclusively('dry_run', async () => await tryInOwnSchema(parts));
  } finally {
    await store.close();
  }
};

/**
 * Tries the pending migrations next to a running service: on SQLite on a copy of the file in the scratch folder, on
 * PostgreSQL in a separate schema, `<schema>_dry_run`.
 * @returns the durations; null if there is no database yet
 * @throws StartFailure if the disk of the scratch folder has too little space
 */
export const tryMigrations = async (parts: TrialParts): Promise<Tried | null> => {
  const { config } = parts;
  if (!databaseExists(config)) return null;
  return config.database_url === null ? await tryOnFile(parts) : await tryInSchema(parts);
};
