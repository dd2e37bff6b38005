/**
 * Opens the database with all that belongs to it: secrets, repository storages, the store of bytes. Everything is
 * compared before the first change, so that a start that is refused leaves all as it was.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Secrets } from '../access/call.ts';
import type { Config } from '../config.ts';
import { migrate, refuseNewer } from '../db/migrate.ts';
import type { Store, Tx } from '../db/open.ts';
import { StartFailure } from '../errors.ts';
import {
  type InstanceRecord,
  type Wanted,
  differingSecret,
  emptyRecord,
  readInstanceRecord,
  recordClaims,
  recordInstance,
  secretsDiffer,
} from './instance_record.ts';
import { type InstanceStore, checkStores } from './instance_stores.ts';
import {
  type StoredSecrets,
  completeSecrets,
  createSecretsFile,
  fingerprintsOf,
  readSecrets,
  replaceSecretsFile,
  secretsPath,
} from './secrets.ts';
import { type StoreParts, databaseExists, openAnyStore } from './store.ts';
import { storesOf } from './store_places.ts';

export type Instance = {
  store: Store;
  id: string;
  secrets: Secrets;
  /** Names of the migrations that this took. */
  applied: string[];
};

export type InstanceParts = StoreParts & {
  log?: Logger;
  /** What is taken over as it is, whatever its marker says: `secrets`, `blobs`, `storage:NAME`. */
  adopted?: ReadonlySet<string>;
};

/** All that is compared, and what is then to be changed. */
type Plan = {
  record: InstanceRecord;
  file: string;
  /** null: the file is to be made. */
  stored: StoredSecrets | null;
  id: string;
  claims: InstanceStore[];
  adoptsSecrets: boolean;
};

const missingSecrets = (file: string): StartFailure =>
  new StartFailure(
    `${file} is missing beside a database in use: restore it from the backup of this folder, or copy it from where ` +
      'this database was served before (to begin with other secrets, run "gantry adopt secrets")',
  );

const otherInstance = (file: string, instance: string, { id }: InstanceRecord): StartFailure =>
  new StartFailure(
    `${file} belongs to the instance ${instance}, ${id === null ? 'but the database is empty' : `but the database to ${id}`}: ` +
      'check GANTRY_DATABASE_URL and --data (to use it as it is, run "gantry adopt secrets")',
  );

/** The secrets as they lie there; null: there are none, and there need not be. */
const checkSecrets = (file: string, record: InstanceRecord): StoredSecrets | null => {
  const stored = readSecrets(file);
  if (stored === null) {
    if (!record.isEmpty) throw missingSecrets(file);
    return null;
  }
  const { instance } = stored;
  const isForeign = record.id === null ? record.isEmpty : record.id !== instance;
  if (instance !== undefined && isForeign) throw otherInstance(file, instance, record);
  const differing = differingSecret(record.fingerprints, fingerprintsOf(stored));
  if (differing !== null) throw secretsDiffer(file, differing);
  return stored;
};

/** Compares everything, and changes nothing. @throws StartFailure with what to do */
const makePlan = async (
  { config, log, adopted = new Set() }: InstanceParts,
  store: Store | null,
  record: InstanceRecord,
): Promise<Plan> => {
  refuseNewer(record.applied);
  const file = secretsPath(config);
  const adoptsSecrets = adopted.has('secrets');
  const stored = adoptsSecrets ? readSecrets(file) : checkSecrets(file, record);
  const known = record.id ?? (adoptsSecrets ? null : (stored?.instance ?? null));
  const claims = await checkStores({
    stores: await storesOf(config, store),
    record,
    id: known,
    adopted,
    warn: (details, message) => log?.warn(details, message),
  });
  return { record, file, stored, id: known ?? randomUUID(), claims, adoptsSecrets };
};

const isSame = (one: InstanceRecord, other: InstanceRecord): boolean =>
  one.id === other.id && one.claimed.size === other.claimed.size;

/** Where another service changed the database meanwhile, as at a first start of several, all is compared again. */
const planFor = async (parts: InstanceParts, store: Store): Promise<Plan> => {
  for (;;) {
    // oxlint-disable no-await-in-loop -- again, where another service was at work
    const record = await readInstanceRecord(store);
    try {
      return await makePlan(parts, store, record);
    } catch (error) {
      if (isSame(record, await readInstanceRecord(store))) throw error;
    }
    // oxlint-enable no-await-in-loop
  }
};

const secretsOf = ({ session_key, encryption_key, registry_key, ssh_host_key }: Secrets): Secrets => ({
  session_key,
  encryption_key,
  registry_key,
  ssh_host_key,
});

/** Makes the file of a first start. */
const provideSecrets = (
  config: Config,
  { file, stored }: Plan,
): { secrets: StoredSecrets & Secrets; isNew: boolean } => {
  const secrets = completeSecrets(stored, config.data);
  if (stored !== null || createSecretsFile(file, secrets)) return { secrets, isNew: stored === null };
  // Another service made the same file just now.
  return { secrets: completeSecrets(readSecrets(file), config.data), isNew: false };
};

const isWhole = (stored: StoredSecrets | null, secrets: Secrets): boolean =>
  stored?.registry_key === secrets.registry_key && stored.ssh_host_key === secrets.ssh_host_key;

/** Adds what earlier versions did not write. One that several share may be for none of them to write. */
const noteInstance = (plan: Plan, secrets: StoredSecrets & Secrets, id: string, config: Config): void => {
  const stored = readSecrets(plan.file);
  if (stored?.instance === id && isWhole(stored, secrets)) return;
  try {
    replaceSecretsFile(plan.file, { ...secrets, instance: id });
  } catch (error) {
    if (config.secrets_file === null || !isWhole(stored, secrets)) throw error;
  }
};

const isRecorded = ({ record, adoptsSecrets }: Plan, { id, fingerprints }: Wanted): boolean =>
  !adoptsSecrets &&
  record.id === id &&
  [...fingerprints.keys()].every((name) => record.fingerprints.has(name));

const carryOut = async (parts: InstanceParts, store: Store, plan: Plan): Promise<Omit<Instance, 'store'>> => {
  const { config } = parts;
  const { secrets, isNew } = provideSecrets(config, plan);
  const wanted = {
    id: plan.id,
    file: plan.file,
    fingerprints: fingerprintsOf(secrets),
    replaces: plan.adoptsSecrets,
  };
  try {
    let id = plan.id;
    const record = async (tx: Tx): Promise<void> => void (id = await recordInstance(tx, wanted));
    const applied = await migrate(store, undefined, isRecorded(plan, wanted) ? undefined : record);
    noteInstance(plan, secrets, id, config);
    for (const { claim } of plan.claims) await claim(id); // oxlint-disable-line no-await-in-loop -- a few
    if (plan.claims.length > 0) {
      await recordClaims(
        store,
        plan.claims.map(({ name }) => name),
      );
    }
    return { id, secrets: secretsOf(secrets), applied };
  } catch (error) {
    if (isNew && error instanceof StartFailure) rmSync(plan.file, { force: true });
    throw error;
  }
};

/**
 * Opens the store of a configuration and brings it to this version's schema.
 * @throws StartFailure where the database and what lies beside it do not go together
 */
export const openInstance = async (parts: InstanceParts): Promise<Instance> => {
  // To open a database in a file would make the file.
  if (!databaseExists(parts.config)) await makePlan(parts, null, emptyRecord);
  const store = await openAnyStore(parts);
  try {
    const plan = await planFor(parts, store);
    return { store, ...(await carryOut(parts, store, plan)) };
  } catch (error) {
    await store.close();
    throw error;
  }
};
