/**
 * The stores of an instance beside its database: repository storages, and the bytes of artifacts and uploads. Each has
 * a marker with the id of the instance; at the start, each must be the one that goes with the database.
 */
import { StartFailure } from '../errors.ts';
import type { InstanceRecord } from './instance_record.ts';

/** What was seen of a store, before anything is changed. */
export type StoreState = {
  /** The id in its marker; null: it has none. */
  instance: string | null;
  isEmpty: boolean;
  /** Whether it holds what the database expects in it; null: the database expects nothing. */
  holdsExpected: boolean | null;
};

export type InstanceStore = {
  /** As `gantry adopt` takes it: `storage:default`, `blobs`. */
  name: string;
  /** For people: `the repository storage "default" (/srv/repositories)`. */
  label: string;
  /** What makes it reachable again. */
  remedy: string;
  /** @throws where it does not answer */
  inspect: (record: InstanceRecord) => Promise<StoreState>;
  /** Marks it as the instance's. */
  claim: (instance: string) => Promise<void>;
};

/** @param id of the instance that the database and the secrets are of; null: of none yet */
type Expectation = { id: string | null; isClaimed: boolean };

/**
 * What is wrong with a store, and what to do; `ok`: it is the right one; `claim`: it is free, and is to be marked.
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
    return { problem: `${label} holds nothing of what the database knows: ${remedy}` };
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
  /** Of the instance that the database and the secrets are of; null: of none yet. */
  id: string | null;
  /** Stores that are to be taken over as they are. */
  adopted: ReadonlySet<string>;
  warn: (details: object, message: string) => void;
};

const refusal = (problem: string, name: string): StartFailure =>
  new StartFailure(`${problem} (to use it as it is, run "gantry adopt ${name}")`);

const judge = async (store: InstanceStore, parts: Parts): Promise<boolean> => {
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
    // Whatever it is asked for is refused until it is back: its marker is compared then.
    warn({ store: name, cause }, 'a store does not answer');
    return false;
  }
  const verdict = judgeStore(store, state, { id, isClaimed });
  if (verdict === 'ok') return !isClaimed;
  if (verdict === 'claim' || adopted.has(name)) return true;
  throw refusal(verdict.problem, name);
};

/**
 * Compares all stores, and changes nothing.
 * @returns those that are to be marked, or whose mark the database does not know
 * @throws StartFailure for the first that does not go with the database
 */
export const checkStores = async (parts: Parts): Promise<InstanceStore[]> => {
  const claims: InstanceStore[] = [];
  for (const store of parts.stores) {
    // oxlint-disable-next-line no-await-in-loop -- the first fault is told
    if (await judge(store, parts)) claims.push(store);
  }
  return claims;
};
