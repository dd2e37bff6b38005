/** The database's record of the instance: its id, the fingerprints of its secrets, and its marked stores. */
import { sql } from 'kysely';
import type { Reader, Store, Tx } from '../../platform/db/open.ts';
import { appliedMigrations } from '../../platform/db/migrate.ts';
import { StartFailure } from '../../platform/errors.ts';
import type { SecretName } from './secrets.ts';

export type InstanceRecord = {
  /** null: an empty database, or one of an earlier version. */
  id: string | null;
  fingerprints: Map<string, string>;
  /** Names of stores (`instance_stores.ts`) marked as belonging to this instance. */
  claimed: Set<string>;
  /** Where the database was moved to, or is being moved to; null: it was not. */
  movedTo: string | null;
  /** Whether the database has never had a user. */
  isEmpty: boolean;
  applied: string[];
};

export const emptyRecord: InstanceRecord = {
  id: null,
  fingerprints: new Map(),
  claimed: new Set(),
  movedTo: null,
  isEmpty: true,
  applied: [],
};

/** Names in the table `instance`. */
const idName = 'id';
const fingerprintPrefix = 'fingerprint:';
const storePrefix = 'store:';
export const movedName = 'moved_to';

const entriesWithPrefix = (rows: { name: string; value: string }[], prefix: string): [string, string][] =>
  rows
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name, value }) => [name.slice(prefix.length), value]);

const readRows = async (db: Reader) => {
  const rows = await db.selectFrom('instance').select(['name', 'value']).execute();
  return {
    id: rows.find(({ name }) => name === idName)?.value ?? null,
    fingerprints: new Map(entriesWithPrefix(rows, fingerprintPrefix)),
    claimed: new Set(entriesWithPrefix(rows, storePrefix).map(([name]) => name)),
    movedTo: rows.find(({ name }) => name === movedName)?.value ?? null,
  };
};

/** Reads the record from a database of any version, without changing it. */
export const readInstanceRecord = async (store: Store): Promise<InstanceRecord> => {
  const applied = await appliedMigrations(store);
  if (applied === null) return emptyRecord;
  const users = await sql`select 1 from users limit 1`.execute(store.db);
  return { ...(await readRows(store.db)), isEmpty: users.rows.length === 0, applied };
};

const describeOwner = ({ id, isEmpty }: InstanceRecord): string => {
  if (id !== null) return `the database to ${id}`;
  return isEmpty ? 'the database is empty' : 'the database is of an earlier version, which recorded none';
};

export const otherInstance = (file: string, instance: string, record: InstanceRecord): StartFailure =>
  new StartFailure(
    `${file} belongs to the instance ${instance}, but ${describeOwner(record)}: ` +
      'check GANTRY_DATABASE_URL and --data (to use it unchanged, run "gantry adopt secrets")',
  );

export const secretsDiffer = (
  file: string,
  { name, isMissing }: { name: SecretName; isMissing: boolean },
): StartFailure =>
  new StartFailure(
    `${file} does not belong to this database (its ${name} ${isMissing ? 'is missing' : 'differs'}): copy the file ` +
      'from where this database was served before, or name it in GANTRY_SECRETS_FILE (to continue with other secrets, ' +
      'run "gantry adopt secrets")',
  );

export type NewRecord = {
  id: string;
  file: string;
  fingerprints: Map<SecretName, string>;
  replaces: boolean;
};

const insert = async ({ db }: Tx, name: string, value: string, replaces: boolean): Promise<void> => {
  const query = db.insertInto('instance').values({ name, value });
  await (
    replaces
      ? query.onConflict((clash) => clash.column('name').doUpdateSet({ value }))
      : query.onConflict((clash) => clash.doNothing())
  ).execute();
};

/**
 * Records what is not recorded yet. The first of several services that start together wins.
 * @returns the id of the instance
 * @throws StartFailure if another service with other secrets was first
 */
export const recordInstance = async (
  tx: Tx,
  { id, file, fingerprints, replaces }: NewRecord,
): Promise<string> => {
  await insert(tx, idName, id, false);
  for (const [name, value] of fingerprints) {
    await insert(tx, `${fingerprintPrefix}${name}`, value, replaces);
  }
  const recorded = await readRows(tx.db);
  for (const [name, value] of fingerprints)
    if (recorded.fingerprints.get(name) !== value) throw secretsDiffer(file, { name, isMissing: false });
  return recorded.id ?? id;
};

/** Records the stores that were marked as belonging to the instance. */
export const recordClaims = async (store: Store, names: readonly string[]): Promise<void> =>
  await store.write(async (tx) => {
    for (const name of names) {
      await insert(tx, `${storePrefix}${name}`, String(tx.now), false);
    }
  });

/** Records where the database is moved to, which ends its use; null: it is used again. */
export const recordMove = async (store: Store, target: string | null): Promise<void> =>
  await store.write(async (tx) => {
    if (target === null) await tx.db.deleteFrom('instance').where('name', '=', movedName).execute();
    else await insert(tx, movedName, target, true);
  });

/** @throws StartFailure for a database that was moved: another one has its rows */
export const refuseMoved = ({ movedTo }: Pick<InstanceRecord, 'movedTo'>): void => {
  if (movedTo === null) return;
  throw new StartFailure(
    `this database was moved to ${movedTo}, or a move to there was interrupted: use that one; ` +
      'to use this one all the same, and never the other, run "gantry migrate --undo-move"',
  );
};
