/** What the database knows of the instance: its id, its secrets by their fingerprints, and where it has kept data. */
import { sql } from 'kysely';
import type { Reader, Store, Tx } from '../db/open.ts';
import { appliedMigrations } from '../db/migrate.ts';
import { StartFailure } from '../errors.ts';
import type { SecretName } from './secrets.ts';

export type InstanceRecord = {
  /** null: an empty database, or one of an earlier version. */
  id: string | null;
  fingerprints: Map<string, string>;
  /** Stores (`instance_stores.ts`) that were marked as this instance's. */
  claimed: Set<string>;
  /** Nobody was ever created in it. */
  isEmpty: boolean;
  applied: string[];
};

export const emptyRecord: InstanceRecord = {
  id: null,
  fingerprints: new Map(),
  claimed: new Set(),
  isEmpty: true,
  applied: [],
};

/** Names in the table `instance`. */
const idName = 'id';
const fingerprintPrefix = 'fingerprint:';
const storePrefix = 'store:';

const entriesOf = (rows: { name: string; value: string }[], prefix: string): [string, string][] =>
  rows
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name, value }) => [name.slice(prefix.length), value]);

const readRows = async (db: Reader) => {
  const rows = await db.selectFrom('instance').select(['name', 'value']).execute();
  return {
    id: rows.find(({ name }) => name === idName)?.value ?? null,
    fingerprints: new Map(entriesOf(rows, fingerprintPrefix)),
    claimed: new Set(entriesOf(rows, storePrefix).map(([name]) => name)),
  };
};

/** Reads a database of any version, and changes nothing. */
export const readInstanceRecord = async (store: Store): Promise<InstanceRecord> => {
  const applied = await appliedMigrations(store);
  if (applied === null) return emptyRecord;
  const users = await sql`select 1 from users limit 1`.execute(store.db);
  return { ...(await readRows(store.db)), isEmpty: users.rows.length === 0, applied };
};

/** The first secret that is another one than the database knows; null: there is none. */
export const differingSecret = (
  recorded: ReadonlyMap<string, string>,
  present: ReadonlyMap<SecretName, string>,
): SecretName | null => {
  const differing = [...present].find(([name, value]) => (recorded.get(name) ?? value) !== value);
  return differing?.[0] ?? null;
};

export const secretsDiffer = (file: string, name: SecretName): StartFailure =>
  new StartFailure(
    `${file} is not the one of this database (its ${name} is another one): copy the file from where this database ` +
      'was served before, or name it in GANTRY_SECRETS_FILE (to go on with other secrets, run "gantry adopt secrets")',
  );

export type Wanted = { id: string; file: string; fingerprints: Map<SecretName, string>; replaces: boolean };

const insert = async ({ db }: Tx, name: string, value: string, replaces: boolean): Promise<void> => {
  const query = db.insertInto('instance').values({ name, value });
  await (
    replaces
      ? query.onConflict((clash) => clash.column('name').doUpdateSet({ value }))
      : query.onConflict((clash) => clash.doNothing())
  ).execute();
};

/**
 * Writes down what is not there yet. Of services that start together, the first decides.
 * @returns the id of the instance
 * @throws StartFailure where another service was first, with other secrets
 */
export const recordInstance = async (
  tx: Tx,
  { id, file, fingerprints, replaces }: Wanted,
): Promise<string> => {
  await insert(tx, idName, id, false);
  for (const [name, value] of fingerprints) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await insert(tx, `${fingerprintPrefix}${name}`, value, replaces);
  }
  const recorded = await readRows(tx.db);
  const differing = differingSecret(recorded.fingerprints, fingerprints);
  if (differing !== null) throw secretsDiffer(file, differing);
  return recorded.id ?? id;
};

export const recordClaims = async (store: Store, names: readonly string[]): Promise<void> =>
  await store.write(async (tx) => {
    for (const name of names) {
      // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
      await insert(tx, `${storePrefix}${name}`, String(tx.now), false);
    }
  });
