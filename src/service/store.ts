import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { appliedMigrations, migrate, pendingMigrations } from '../db/migrate.ts';
import { type Store, openStore } from '../db/open.ts';
import { StartFailure } from '../errors.ts';
import type { Clock } from '../time.ts';

export type StoreParts = {
  config: Config;
  clock: Clock;
  /** Told when nothing more may be acknowledged: the process must end. */
  onFatal: (error: unknown) => void;
};

export const databaseFile = (config: Config): string => join(config.data, 'gantry.sqlite');

/** Opens a store as it is; where there is none yet, an empty one is made. */
export const openAnyStore = async (
  { config, clock, onFatal }: StoreParts,
  readOnly = false,
): Promise<Store> =>
  await openStore(
    {
      file: databaseFile(config),
      ...(config.database_url !== null && { url: config.database_url }),
      schema: config.database_schema,
      connections: config.database_connections,
      readOnly,
      onFatal,
    },
    clock,
  );

/** Opens the store, prepares it, and closes it again where that fails. */
const openPrepared = async <T>(
  parts: StoreParts,
  prepare: (store: Store) => Promise<T>,
): Promise<{ store: Store; prepared: T }> => {
  const store = await openAnyStore(parts);
  try {
    return { store, prepared: await prepare(store) };
  } catch (error) {
    await store.close();
    throw error;
  }
};

/** Whether there is a database to open; a server's is there until it is asked. */
export const databaseExists = (config: Config): boolean =>
  config.database_url !== null || existsSync(databaseFile(config));

const refuseMissing = (config: Config): void => {
  if (databaseExists(config)) return;
  throw new StartFailure(
    `there is no database in ${config.data}: name its folder with --data, or start "gantry serve" to make one`,
  );
};

/** Opens a store that exists, whatever its schema; creates nothing. */
export const openExistingStore = async (parts: StoreParts): Promise<Store> => {
  refuseMissing(parts.config);
  return await openAnyStore(parts);
};

/** Opens a store that exists, whatever its schema, and changes nothing, also on a disk that is full or read-only. */
export const openStoreToRead = async (parts: StoreParts): Promise<Store> => {
  refuseMissing(parts.config);
  return await openAnyStore(parts, true);
};

/** Opens a store that has this version's schema already: for work beside a running service. */
export const openCurrentStore = async (parts: StoreParts): Promise<Store> => {
  refuseMissing(parts.config);
  const { store } = await openPrepared(parts, async (opened) => {
    const applied = await appliedMigrations(opened);
    if (applied === null || pendingMigrations(applied).length > 0) {
      throw new StartFailure('the database lacks the schema of this version: run "gantry migrate" first');
    }
    await migrate(opened); // nothing to apply: refuses a newer database
  });
  return store;
};
