/** Checks the database: integrity, schema, counters and everything that refers to it. */
import { sql } from 'kysely';
import type { Config } from '../../../platform/config/fields.ts';
import { appliedMigrations, pendingMigrations, refuseNewer } from '../../../platform/db/migrate.ts';
import type { Store } from '../../../platform/db/open.ts';
import { isUnopened } from '../../../platform/db/sqlite/readonly_location.ts';
import { getErrorMessage, StartFailure } from '../../../platform/errors.ts';
import { type InstanceRecord, readInstanceRecord } from '../../service/instance_record.ts';
import { databaseExists, databaseFile, openStoreToRead } from '../../service/open_database.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { checkCounters } from './check_counters.ts';
import { checkDigests, countBytes } from './check_digests.ts';
import { checkLogs, countLogs } from './check_logs.ts';
import { checkRepositories, countRepositories } from './check_repositories.ts';
import { type Progress, showProgress, silentProgress } from '../progress.ts';
import { checkFingerprints, checkStores } from './check_stores.ts';
import { checkCertificates } from './check_certificates.ts';
import { checkBackups } from './check_backups.ts';
import { checkWork } from './check_work.ts';
import { systemClock } from '../../../platform/time.ts';
import { storeParts } from '../with_store.ts';

const restore = 'stop the service and restore a backup';

/** Checks the file of SQLite for damage. PostgreSQL checks itself. */
const checkIntegrity = async ({ db, dialect }: Store, thorough: boolean): Promise<Finding[]> => {
  if (dialect.engine === 'postgres') {
    const { rows } = await sql<{
      version: string;
    }>`select current_setting('server_version') as version`.execute(db);
    return [ok('database', `PostgreSQL ${rows[0]?.version ?? ''} answers`)];
  }
  const pragma = thorough ? sql`pragma integrity_check(5)` : sql`pragma quick_check(5)`;
  const damage = (await pragma.execute(db)).rows.map((row) => String(Object.values(row as object)[0]));
  const { rows: strays } = await sql<{ table: string }>`pragma foreign_key_check`.execute(db);
  const isWhole = damage.length === 1 && damage[0] === 'ok';
  const tables = [...new Set(strays.map(({ table }) => table))];
  return [
    isWhole
      ? ok('database', 'SQLite reports no damage')
      : fail('database', `damaged: ${damage.join('; ')}`, restore),
    tables.length === 0
      ? ok('references', 'every foreign key refers to an existing row')
      : fail('references', `rows with dangling references in ${tables.join(', ')}`, restore),
  ];
};

const checkSchema = async (store: Store): Promise<Finding> => {
  const applied = await appliedMigrations(store);
  if (applied === null)
    return fail('schema', 'the database is empty', 'start "gantry serve" or run "gantry migrate"');
  const pending = pendingMigrations(applied);
  if (pending.length > 0) return fail('schema', `lacks ${pending.join(', ')}`, 'run "gantry migrate"');
  refuseNewer(applied);
  return ok('schema', `current (${applied.at(-1) ?? ''})`);
};

export type DoctorParts = {
  config: Config;
  thorough: boolean;
  /** Shows no progress of long checks. */
  silent: boolean;
  /** Names of stores that do not answer and are skipped. */
  skipped: ReadonlySet<string>;
};

/** Makes a finding of an error. A StartFailure already says what to do. */
const failWith = (check: string, error: unknown): Finding => {
  const message = getErrorMessage(error);
  return error instanceof StartFailure
    ? { state: 'fail', check, detail: message }
    : fail(check, message, restore);
};

/** Runs one check, so that a damaged table does not hide the other findings. */
const runCheck = async (check: string, inspect: () => Promise<Finding | Finding[]>): Promise<Finding[]> => {
  try {
    return [await inspect()].flat();
  } catch (error) {
    return [failWith(check, error)];
  }
};

/** A check, and the name of its findings. */
type Check = [name: string, inspect: () => Promise<Finding | Finding[]>];

/** Returns the checks of a database that has this version's schema. */
const currentChecks = (parts: DoctorParts, store: Store, record: InstanceRecord): Check[] => [
  ['counters', async () => await checkCounters(store)],
  [
    'certificate',
    async () =>
      record.id === null ? [] : await checkCertificates(parts.config, record.id, systemClock.now()),
  ],
  ['work', async () => await checkWork(store, systemClock.now())],
  ['backup', async () => await checkBackups(store, parts.config, systemClock.now())],
  ['secrets of the database', async () => checkFingerprints(parts.config, record)],
  ['stores', async () => await checkStores(parts.config, { store, record }, parts.skipped)],
];

/** Runs a long check and shows its progress. */
const withProgress = async (
  { silent }: DoctorParts,
  { label, total }: { label: string; total: number },
  work: (progress: Progress) => Promise<Finding[]>,
): Promise<Finding[]> => {
  const progress = silent ? silentProgress : showProgress(label, total);
  try {
    return await work(progress);
  } finally {
    progress.end();
  }
};

/** Returns the checks that read all data. */
const thoroughChecks = (parts: DoctorParts, store: Store, { id }: InstanceRecord): Check[] => [
  [
    'repositories',
    async () => {
      const shown = { label: 'repositories checked', total: await countRepositories(store) };
      const target = { config: parts.config, store, instance: id ?? '' };
      return await withProgress(parts, shown, async (progress) => await checkRepositories(target, progress));
    },
  ],
  [
    'artifacts and uploads',
    async () => {
      const shown = { label: 'artifacts and uploads checked', total: await countBytes(store) };
      return await withProgress(
        parts,
        shown,
        async (progress) => await checkDigests({ ...parts, store }, progress),
      );
    },
  ],
  [
    'job logs',
    async () => {
      const shown = { label: 'job logs checked', total: await countLogs(store) };
      return await withProgress(
        parts,
        shown,
        async (progress) => await checkLogs({ ...parts, store }, progress),
      );
    },
  ],
];

const examineStore = async (parts: DoctorParts, store: Store): Promise<Finding[]> => {
  const findings = await runCheck('database', async () => await checkIntegrity(store, parts.thorough));
  const schema = await runCheck('schema', async () => await checkSchema(store));
  findings.push(...schema);
  if (schema.some(({ state }) => state !== 'ok')) return findings;
  let record: InstanceRecord;
  try {
    record = await readInstanceRecord(store);
  } catch (error) {
    return [...findings, failWith('database', error)];
  }
  const thorough = parts.thorough ? thoroughChecks(parts, store, record) : [];
  for (const [name, inspect] of [...currentChecks(parts, store, record), ...thorough]) {
    findings.push(...(await runCheck(name, inspect)));
  }
  return findings;
};

const openOrFinding = async (config: Config): Promise<Store | Finding> => {
  if (!databaseExists(config)) {
    return fail(
      'database',
      'no database found',
      'name its folder with --data, or start "gantry serve" to create one',
    );
  }
  try {
    return await openStoreToRead(storeParts(config));
  } catch (error) {
    return failWith('database', error);
  }
};

/** Returns whether no process has the SQLite database open. */
const isClosed = (config: Config): boolean =>
  config.database_url === null && isUnopened(databaseFile(config));

export const checkStore = async (parts: DoctorParts): Promise<Finding[]> => {
  const { config, skipped } = parts;
  const wasClosed = isClosed(config);
  const store = await openOrFinding(config);
  if ('check' in store) {
    return [store, ...(await runCheck('stores', async () => await checkStores(config, null, skipped)))];
  }
  try {
    const findings = await examineStore(parts, store);
    if (!wasClosed || isClosed(config)) return findings;
    const detail = 'a process opened the database while it was read without locks';
    return [...findings, warn('database', detail, 'run "gantry doctor" again')];
  } finally {
    await store.close();
  }
};
