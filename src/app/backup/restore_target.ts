/** Checks that a restore overwrites nothing, and claims the stores that it fills. */
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../platform/config/fields.ts';
import { StartFailure } from '../../platform/errors.ts';
import { systemClock } from '../../platform/time.ts';
import { writePrivate } from '../service/data_folder.ts';
import { emptyRecord, readInstanceRecord } from '../service/instance_record.ts';
import type { InstanceStore } from '../service/instance_stores.ts';
import { listStores } from '../service/list_stores.ts';
import { databaseFile, openAnyStore } from '../service/open_database.ts';
import { readSecrets, secretsPath } from '../service/secrets.ts';
import type { Manifest } from './manifest.ts';

export type Restored = { manifest: Manifest; isQuiet: boolean };

/** A file in the data folder while a restore fills it: the same restore may continue after an interruption. */
const progressFile = (config: Config): string => join(config.data, 'restoring');
const quietWord = '--quiet';

/**
 * Returns the name of the backup that an interrupted restore has begun with; null: there is none.
 * @throws StartFailure if it was quiet and would be completed as another one
 */
const readProgress = (config: Config, { isQuiet }: Restored): string | null => {
  const file = progressFile(config);
  if (!existsSync(file)) return null;
  const [name = '', word] = readFileSync(file, 'utf8').trim().split(' ');
  if (word === quietWord && !isQuiet)
    throw new StartFailure(
      `a restore of ${name} with --quiet was interrupted here: complete it with --quiet ("gantry backup activate" ends that), or clear ${config.data}`,
    );
  return name;
};

const inUse = (what: string): StartFailure =>
  new StartFailure(`${what} is in use: restore into an empty instance (other --data, database and stores)`);

/** Returns the name of a database that is in use; null if it is empty. */
const findUsedDatabase = async (config: Config): Promise<string | null> => {
  if (config.database_url === null) return existsSync(databaseFile(config)) ? databaseFile(config) : null;
  const store = await openAnyStore({ config, clock: systemClock, onFatal: () => undefined });
  try {
    return (await readInstanceRecord(store)).isEmpty ? null : `the schema ${config.database_schema}`;
  } finally {
    await store.close();
  }
};

const requireEmptyStore = async ({ label, inspect, remedy }: InstanceStore): Promise<void> => {
  const state = await inspect(emptyRecord).catch((error: unknown) => {
    throw new StartFailure(`${label} does not answer (${(error as Error).message}): ${remedy}`);
  });
  if (state.instance !== null || !state.isEmpty) throw inUse(label);
};

const requireSecrets = (config: Config, manifest: Manifest): void => {
  const file = secretsPath(config);
  const present = readSecrets(file);
  if (manifest.secrets !== null) {
    if (present !== null) throw inUse(file);
    return;
  }
  if (present?.instance !== manifest.instance)
    throw new StartFailure(
      `the backup has no secrets: copy the secrets of the instance ${manifest.instance} to ${file} first`,
    );
};

const requireEmptyLogs = (config: Config): void => {
  const folder = join(config.data, 'traces');
  if (existsSync(folder) && readdirSync(folder).length > 0) throw inUse(folder);
};

/**
 * Checks that everything is empty, or filled by the same restore that was interrupted, and claims the stores.
 * @returns whether the interrupted restore had come to its end: the database, which is last, is there
 * @throws StartFailure; nothing has changed
 */
export const claimTarget = async (config: Config, restored: Restored): Promise<boolean> => {
  const { manifest, isQuiet } = restored;
  const begun = readProgress(config, restored);
  const used = await findUsedDatabase(config);
  if (used !== null && begun === manifest.name) return true;
  if (used !== null) throw inUse(used);
  const stores = await listStores(config, null);
  if (begun !== manifest.name) {
    if (begun !== null)
      throw new StartFailure(
        `a restore of ${begun} was interrupted here: restore that one, or clear ${config.data}`,
      );
    requireSecrets(config, manifest);
    requireEmptyLogs(config);
    for (const store of stores) await requireEmptyStore(store);
    writePrivate(progressFile(config), `${manifest.name}${isQuiet ? ` ${quietWord}` : ''}\n`);
  }
  for (const { claim } of stores) await claim(manifest.instance);
  return false;
};

export const endRestore = (config: Config): void => rmSync(progressFile(config), { force: true });
