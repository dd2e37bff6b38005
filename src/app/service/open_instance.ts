/**
 * Opens the database with the secrets, repository storages and blob store that belong to it. Compares everything
 * before the first change, so that a refused start changes nothing.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Secrets } from '../../core/platform.ts';
import type { Config } from '../../platform/config/fields.ts';
import { appliedMigrations, migrate, pendingMigrations, refuseNewer } from '../../platform/db/migrate.ts';
import type { Store, Tx } from '../../platform/db/open.ts';
import { StartFailure } from '../../platform/errors.ts';
import {
  type InstanceRecord,
  type NewRecord,
  emptyRecord,
  otherInstance,
  readInstanceRecord,
  recordClaims,
  recordInstance,
  refuseMoved,
  secretsDiffer,
} from './instance_record.ts';
import { type InstanceStore, checkStores } from './instance_stores.ts';
import {
  type StoredSecrets,
  completeSecrets,
  computeFingerprints,
  createSecretsFile,
  findDifferingSecret,
  isComplete,
  readSecrets,
  replaceSecretsFile,
  secretsPath,
} from './secrets.ts';
import { copyBeforeUpgrade } from './copy_before_upgrade.ts';
import { type StoreParts, databaseExists, openAnyStore } from './open_database.ts';
import { listStores } from './list_stores.ts';

export type Instance = {
  store: Store;
  id: string;
  secrets: Secrets;
  /** Names of the migrations that were applied. */
  applied: string[];
};

export type InstanceParts = StoreParts & {
  log?: Logger;
  /** Parts to adopt whatever their markers say: `secrets`, `blobs`, `storage:NAME`. */
  adopted?: ReadonlySet<string>;
};

/** The outcome of the comparison and the changes to make. */
type Plan = {
  record: InstanceRecord;
  file: string;
  /** null if the file must be created. */
  stored: StoredSecrets | null;
  id: string;
  claims: InstanceStore[];
  adoptsSecrets: boolean;
};

const missingSecrets = (file: string): StartFailure =>
  new StartFailure(
    `${file} is missing next to a database in use: restore it from the backup of this folder, or copy it from where ` +
      'this database was served before (to begin with other secrets, run "gantry adopt secrets")',
  );

/** Reads the secrets; null if there are none, and none are expected. */
const checkSecrets = (config: Config, record: InstanceRecord): StoredSecrets | null => {
  const file = secretsPath(config);
  const stored = readSecrets(file);
  if (stored === null) {
    if (!record.isEmpty) throw missingSecrets(file);
    return null;
  }
  const { instance } = stored;
  if (instance !== undefined && record.id !== instance) throw otherInstance(file, instance, record);
  const differing = findDifferingSecret(record.fingerprints, stored, config.data);
  if (differing !== null) throw secretsDiffer(file, differing);
  return stored;
};

/** Compares everything without changes. @throws StartFailure that says what to do */
const makePlan = async (
  { config, log, adopted = new Set() }: InstanceParts,
  store: Store | null,
  record: InstanceRecord,
): Promise<Plan> => {
  refuseNewer(record.applied);
  refuseMoved(record);
  const file = secretsPath(config);
  const adoptsSecrets = adopted.has('secrets');
  const stored = adoptsSecrets ? readSecrets(file) : checkSecrets(config, record);
  // A used database without an id takes over that of the secrets that it adopts.
  const knownId = record.id ?? (adoptsSecrets && record.isEmpty ? null : (stored?.instance ?? null));
  const claims = await checkStores({
    stores: await listStores(config, store),
    record,
    id: knownId,
    adopted,
    warn: (details, message) => log?.warn(details, message),
  });
  return { record, file, stored, id: knownId ?? randomUUID(), claims, adoptsSecrets };
};

const isSame = (one: InstanceRecord, other: InstanceRecord): boolean =>
  one.id === other.id && one.claimed.size === other.claimed.size;

/**
 * Makes a plan. Repeats if another service changed the database meanwhile, for example when several start concurrently.
 */
const makeStablePlan = async (parts: InstanceParts, store: Store): Promise<Plan> => {
  for (;;) {
    const record = await readInstanceRecord(store);
    try {
      return await makePlan(parts, store, record);
    } catch (error) {
      if (isSame(record, await readInstanceRecord(store))) throw error;
    }
  }
};

const pickSecrets = ({ session_key, encryption_key, registry_key, ssh_host_key }: Secrets): Secrets => ({
  session_key,
  encryption_key,
  registry_key,
  ssh_host_key,
});

/** Creates the secrets file at a first start. */
const provideSecrets = (
  config: Config,
  { file, stored }: Plan,
): { secrets: StoredSecrets & Secrets; isNew: boolean } => {
  const secrets = completeSecrets(stored, config.data);
  if (stored !== null || createSecretsFile(file, secrets)) return { secrets, isNew: stored === null };
  // Another service has just created the same file.
  return { secrets: completeSecrets(readSecrets(file), config.data), isNew: false };
};

/**
 * Adds the keys that an earlier version lacked, before the database records their fingerprints: after a crash in
 * between, the next start finds them in the file.
 */
const addMissingKeys = ({ file, stored }: Plan, secrets: StoredSecrets & Secrets): void => {
  if (stored !== null && !isComplete(stored)) replaceSecretsFile(file, secrets);
};

/** Adds the id of the instance. A shared file may be read-only for this service. */
const noteInstance = (file: string, secrets: StoredSecrets & Secrets, id: string, config: Config): void => {
  if (readSecrets(file)?.instance === id) return;
  try {
    replaceSecretsFile(file, { ...secrets, instance: id });
  } catch (error) {
    if (config.secrets_file === null) throw error;
  }
};

const isRecorded = ({ record, adoptsSecrets }: Plan, { id, fingerprints }: NewRecord): boolean =>
  !adoptsSecrets &&
  record.id === id &&
  [...fingerprints.keys()].every((name) => record.fingerprints.has(name));

/** Copies a database in use before it gets a newer schema. */
const copyIfUpgraded = async (
  { config, clock, log }: InstanceParts,
  store: Store,
  { record }: Plan,
): Promise<void> => {
  const pending = pendingMigrations(record.applied);
  if (record.isEmpty || pending.length === 0) return;
  const copy = await copyBeforeUpgrade(config, store, record.applied, clock.now());
  log?.info({ copy, migrations: pending }, 'the database is upgraded');
};

const carryOut = async (parts: InstanceParts, store: Store, plan: Plan): Promise<Omit<Instance, 'store'>> => {
  const { config } = parts;
  const { secrets, isNew } = provideSecrets(config, plan);
  const newRecord = {
    id: plan.id,
    file: plan.file,
    fingerprints: computeFingerprints(secrets),
    replaces: plan.adoptsSecrets,
  };
  try {
    let id = plan.id;
    const record = async (tx: Tx): Promise<void> => void (id = await recordInstance(tx, newRecord));
    await copyIfUpgraded(parts, store, plan);
    addMissingKeys(plan, secrets);
    const applied = await migrate(store, undefined, isRecorded(plan, newRecord) ? undefined : record);
    noteInstance(plan.file, secrets, id, config);
    for (const { claim } of plan.claims) await claim(id);
    if (plan.claims.length > 0) {
      await recordClaims(
        store,
        plan.claims.map(({ name }) => name),
      );
    }
    return { id, secrets: pickSecrets(secrets), applied };
  } catch (error) {
    if (isNew && error instanceof StartFailure) rmSync(plan.file, { force: true });
    throw error;
  }
};

/**
 * Runs the work exclusively among the processes that start on this database, if it must be migrated or its secrets be
 * completed: the first process copies, migrates and adds keys, the others then find it done.
 */
const openAlone = async <T>(
  { config, log }: InstanceParts,
  store: Store,
  work: () => Promise<T>,
): Promise<T> => {
  const stored = readSecrets(secretsPath(config));
  const isMigrated = pendingMigrations((await appliedMigrations(store)) ?? []).length === 0;
  if (isMigrated && (stored === null || isComplete(stored))) return await work();
  return await store.runExclusively('upgrade', work, () =>
    log?.info('another service upgrades the instance; this one waits'),
  );
};

/**
 * Opens the store of a configuration and migrates it to this version's schema.
 * @throws StartFailure if the database does not match the secrets and stores
 */
export const openInstance = async (parts: InstanceParts): Promise<Instance> => {
  // Opening a missing SQLite file would create it.
  if (!databaseExists(parts.config)) await makePlan(parts, null, emptyRecord);
  const store = await openAnyStore(parts);
  const open = async () => await carryOut(parts, store, await makeStablePlan(parts, store));
  try {
    return { store, ...(await openAlone(parts, store, open)) };
  } catch (error) {
    await store.close();
    throw error;
  }
};
