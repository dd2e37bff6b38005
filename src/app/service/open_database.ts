import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../platform/config/fields.ts';
import { appliedMigrations, migrate, pendingMigrations } from '../../platform/db/migrate.ts';
import { type Store, openStore } from '../../platform/db/open.ts';
import { StartFailure } from '../../platform/errors.ts';
import { type Clock, systemClock } from '../../platform/time.ts';

export type StoreParts = {
  config: Config;
  clock: Clock;
  /** Called when commits can no longer be acknowledged. The process must end. */
  onFatal: (error: unknown) => void;
};

/** Parts of a command, which ends at the first failure anyway. */
export const toCommandParts = (config: Config): StoreParts => ({
  config,
  clock: systemClock,
  onFatal: () => undefined,
});

export const databaseFile = (config: Pick<Config, 'data'>): string => join(config.data, 'gantry.sqlite');

/**
 * Opens an existing store unchanged, or creates an empty store.
 * @param file SQLite: another file than the configured file
 */
export const openAnyStore = async (
  { config, clock, onFatal }: StoreParts,
  readOnly = false,
  file: string = databaseFile(config),
): Promise<Store> =>
  await openStore(
    {
      file,
      ...(config.database_url !== null && { url: config.database_url }),
      schema: config.database_schema,
      connections: config.database_connections,
      readOnly,
      onFatal,
    },
    clock,
  );

/** Opens the store and prepares it. Closes it again if that fails. */
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

/** Returns whether there is a database to open. A server's database counts as existing. */
export const databaseExists = (config: Config): boolean =>
  config.database_url !== null || existsSync(databaseFile(config));

const refuseMissing = (config: Config): void => {
  if (databaseExists(config)) return;
  throw new StartFailure(
    `no database found in ${config.data}: set its folder with --data, or start "gantry serve" to create one`,
  );
};

/** Opens an existing store with any schema. Creates nothing. */
export const openExistingStore = async (parts: StoreParts): Promise<Store> => {
  refuseMissing(parts.config);
  return await openAnyStore(parts);
};

/** Opens an existing store with any schema without changing it, also on a full or read-only disk. */
export const openStoreToRead = async (parts: StoreParts): Promise<Store> => {
  refuseMissing(parts.config);
  return await openAnyStore(parts, true);
};

/** Opens a store that has this version's schema already, as for a command while a service runs. */
export const openCurrentStore = async (parts: StoreParts): Promise<Store> => {
  refuseMissing(parts.config);
  const { store } = await openPrepared(parts, async (opened) => {
    const applied = await appliedMigrations(opened);
    if (applied === null || pendingMigrations(applied).length > 0) {
      throw new StartFailure('the database lacks the schema of this version: run "gantry migrate" first');
    }
    await migrate(opened); // applies nothing; refuses a newer database
  });
  return store;
};
