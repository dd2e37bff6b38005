/**
 * The stores of an instance in addition to its database: repository storages, and the blobs of artifacts and uploads.
 * Each has a marker with the id of the instance, which the start compares with the database.
 */
import { StartFailure } from '../../platform/errors.ts';
import type { InstanceRecord } from './instance_record.ts';

/** The state of a store before any change. */
export type StoreState = {
  /** Id in the store's marker; null if it has none. */
  instance: string | null;
  isEmpty: boolean;
  /** True if the store contains what the database expects; null if the database expects nothing. */
  holdsExpected: boolean | null;
};

export type InstanceStore = {
  /** Argument of `gantry adopt`: `storage:default`, `blobs`. */
  name: string;
  /** Label in messages: `the repository storage "default" (/srv/repositories)`. */
  label: string;
  /** Advice for making the store reachable again. */
  remedy: string;
  /** @throws if the store does not answer */
  inspect: (record: InstanceRecord) => Promise<StoreState>;
  /** Marks the store as belonging to the instance. */
  claim: (instance: string) => Promise<void>;
};

/** @param id id of the instance of the database and the secrets; null: none yet */
type Expectation = { id: string | null; isClaimed: boolean };

/**
 * Compares a store with the database. Returns the problem and its remedy; `ok`: the store belongs to it; `claim`: the
 * store is free and must be marked.
 */
export const judgeStore = (
  { label, remedy }: Pick<InstanceStore, 'label' | 'remedy'>,
  { instance, isEmpty, holdsExpected }: StoreState,
  { id, isClaimed }: Expectation,
): 'ok' | 'claim' | { problem: string } => {
  if (instance !== null && instance === id) return 'ok';
  if (instance !== null) {
    const owner = id === null ? 'which this database knows nothing of' : `while the database is of ${id}`;
    return {
      problem: `${label} belongs to the instance ${instance}, ${owner}: use the database and the store that go together`,
    };
  }
  if (isClaimed || (holdsExpected === false && isEmpty)) {
    return { problem: `${label} is missing, although the database has used it: ${remedy}` };
  }
  if (holdsExpected === false) {
    return { problem: `${label} contains nothing that the database references: ${remedy}` };
  }
  if (holdsExpected === null && !isEmpty) {
    return {
      problem: `${label} is in use, but not by this database: check GANTRY_DATABASE_URL and --data, or name an empty one`,
    };
  }
  return 'claim';
};

type Parts = {
  stores: readonly InstanceStore[];
  record: InstanceRecord;
  /** Id of the instance of the database and the secrets; null: none yet. */
  id: string | null;
  /** Names of stores to adopt as they are. */
  adopted: ReadonlySet<string>;
  warn: (details: object, message: string) => void;
};

const refusal = (problem: string, name: string): StartFailure =>
  new StartFailure(`${problem} (to use it unchanged, run "gantry adopt ${name}")`);

const checkStore = async (store: InstanceStore, parts: Parts): Promise<boolean> => {
  const { record, id, adopted, warn } = parts;
  const { name, label, remedy } = store;
  const isClaimed = record.claimed.has(name);
  let state: StoreState;
  try {
    state = await store.inspect(record);
  } catch (error) {
    const cause = (error as Error).message;
    if (!isClaimed) {
      throw new StartFailure(
        `${label} does not answer (${cause}), and was never used by this database: ${remedy}`,
      );
    }
    // Requests for it fail until it is back; its marker is compared then.
    warn({ store: name, cause }, 'a store does not answer');
    return false;
  }
  const verdict = judgeStore(store, state, { id, isClaimed });
  if (verdict === 'ok') return !isClaimed;
  if (verdict === 'claim' || adopted.has(name)) return true;
  throw refusal(verdict.problem, name);
};

/**
 * Compares all stores with the database, without changing them.
 * @returns the stores to mark, and the stores whose mark the database has not recorded
 * @throws StartFailure for the first store that does not belong to the database
 */
export const checkStores = async (parts: Parts): Promise<InstanceStore[]> => {
  const claims: InstanceStore[] = [];
  for (const store of parts.stores) {
    if (await checkStore(store, parts)) claims.push(store);
  }
  return claims;
};
