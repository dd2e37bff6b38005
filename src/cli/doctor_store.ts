/** What the doctor looks at in the database. */
import { sql } from 'kysely';
import type { Config } from '../config.ts';
import { appliedMigrations, pendingMigrations, refuseNewer } from '../db/migrate.ts';
import type { Store } from '../db/open.ts';
import { isUnopened } from '../db/sqlite_readonly.ts';
import { StartFailure } from '../errors.ts';
import { type InstanceRecord, readInstanceRecord } from '../service/instance_record.ts';
import { databaseExists, databaseFile, openStoreToRead } from '../service/store.ts';
import { type Finding, fail, ok, warn } from './doctor_finding.ts';
import { checkDigests, countBytes } from './doctor_digests.ts';
import { checkRepositories, countRepositories } from './doctor_repositories.ts';
import { type Progress, showProgress, silentProgress } from './progress.ts';
import { checkFingerprints, checkStores } from './doctor_stores.ts';
import { checkWork } from './doctor_work.ts';
import { systemClock } from '../time.ts';
import { storeParts } from './store.ts';

const restore = 'stop the service and restore a backup';

/** PostgreSQL checks itself; SQLite is asked for damage in its file. */
const checkIntegrity = async ({ db, words }: Store, thorough: boolean): Promise<Finding[]> => {
  if (words.engine === 'postgres') {
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
      ? ok('database', 'SQLite finds no damage')
      : fail('database', `damaged: ${damage.join('; ')}`, restore),
    tables.length === 0
      ? ok('references', 'every row has what it refers to')
      : fail('references', `rows that refer to nothing in ${tables.join(', ')}`, restore),
  ];
};

const checkSchema = async (store: Store): Promise<Finding> => {
  const applied = await appliedMigrations(store);
  if (applied === null)
    return fail('schema', 'the database is empty', 'start "gantry serve", or run "gantry migrate"');
  const pending = pendingMigrations(applied);
  if (pending.length > 0) return fail('schema', `lacks ${pending.join(', ')}`, 'run "gantry migrate"');
  refuseNewer(applied);
  return ok('schema', `current (${applied.at(-1) ?? ''})`);
};

export type DoctorParts = {
  config: Config;
  thorough: boolean;
  /** Nobody reads how far long checks are. */
  silent: boolean;
  /** Stores that are known not to answer. */
  skipped: ReadonlySet<string>;
};

type Wrong = { project_id: number };

/** Projects whose counters are not what counting gives. */
const wrongCounters = async ({ db }: Store): Promise<number[]> => {
  const { rows } = await sql<Wrong>`
    with counted as (
      select project_id,
        max(iid) as iid,
        sum(case when deleted_at is null and state = 'opened' then 1 else 0 end) as opened,
        sum(case when deleted_at is null and state = 'closed' then 1 else 0 end) as closed,
        sum(case when deleted_at is null and state = 'opened' then confidential else 0 end) as opened_confidential,
        sum(case when deleted_at is null and state = 'closed' then confidential else 0 end) as closed_confidential
      from issues group by project_id
    ), requests as (
      select project_id,
        max(iid) as iid,
        sum(case when deleted_at is null and state in ('opened', 'locked') then 1 else 0 end) as opened,
        sum(case when deleted_at is null and state = 'closed' then 1 else 0 end) as closed,
        sum(case when deleted_at is null and state = 'merged' then 1 else 0 end) as merged
      from merge_requests group by project_id
    )
    select projects.id as project_id from projects
      left join project_counters c on c.project_id = projects.id
      left join iid_sequences i on i.project_id = projects.id and i.kind = 'issue'
      left join iid_sequences r on r.project_id = projects.id and r.kind = 'merge_request'
      left join counted on counted.project_id = projects.id
      left join requests on requests.project_id = projects.id
    where c.project_id is null
      or coalesce(i.last, 0) < coalesce(counted.iid, 0)
      or c.opened_issues <> coalesce(counted.opened, 0)
      or c.closed_issues <> coalesce(counted.closed, 0)
      or c.opened_confidential_issues <> coalesce(counted.opened_confidential, 0)
      or c.closed_confidential_issues <> coalesce(counted.closed_confidential, 0)
      or coalesce(r.last, 0) < coalesce(requests.iid, 0)
      or c.opened_merge_requests <> coalesce(requests.opened, 0)
      or c.closed_merge_requests <> coalesce(requests.closed, 0)
      or c.merged_merge_requests <> coalesce(requests.merged, 0)
    order by projects.id limit 10
  `.execute(db);
  return rows.map((row) => row.project_id);
};

const checkCounters = async (store: Store): Promise<Finding> => {
  const wrong = await wrongCounters(store);
  if (wrong.length === 0) return ok('counters', 'every project counts its issues and merge requests right');
  return fail(
    'counters',
    `wrong in the projects ${wrong.join(', ')}`,
    'report it; the totals of their lists are off',
  );
};

/** An operating fault says itself what to do. */
const failWith = (check: string, error: unknown): Finding => {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof StartFailure
    ? { state: 'fail', check, detail: message }
    : fail(check, message, restore);
};

/** Each check by itself: a damaged table must not hide what else there is to say. */
const attempt = async (check: string, look: () => Promise<Finding | Finding[]>): Promise<Finding[]> => {
  try {
    return [await look()].flat();
  } catch (error) {
    return [failWith(check, error)];
  }
};

/** Checks of a database that has this version's schema, one after another. */
type Check = [name: string, look: () => Promise<Finding | Finding[]>];

const currentChecks = (parts: DoctorParts, store: Store, record: InstanceRecord): Check[] => [
  ['counters', async () => await checkCounters(store)],
  ['work', async () => await checkWork(store, systemClock.now())],
  ['secrets of the database', async () => checkFingerprints(parts.config, record)],
  ['stores', async () => await checkStores(parts.config, { store, record }, parts.skipped)],
];

/** Runs a long check, and shows how far it is. */
const follow = async (
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

/** Checks that read all data. */
const thoroughChecks = (parts: DoctorParts, store: Store, { id }: InstanceRecord): Check[] => [
  [
    'repositories',
    async () => {
      const of = { label: 'repositories checked', total: await countRepositories(store) };
      const asked = { config: parts.config, store, instance: id ?? '' };
      return await follow(parts, of, async (progress) => await checkRepositories(asked, progress));
    },
  ],
  [
    'artifacts and uploads',
    async () => {
      const of = { label: 'artifacts and uploads checked', total: await countBytes(store) };
      return await follow(parts, of, async (progress) => await checkDigests({ ...parts, store }, progress));
    },
  ],
];

const examineStore = async (parts: DoctorParts, store: Store): Promise<Finding[]> => {
  const findings = await attempt('database', async () => await checkIntegrity(store, parts.thorough));
  const schema = await attempt('schema', async () => await checkSchema(store));
  findings.push(...schema);
  if (schema.some(({ state }) => state !== 'ok')) return findings;
  let record: InstanceRecord;
  try {
    record = await readInstanceRecord(store);
  } catch (error) {
    return [...findings, failWith('database', error)];
  }
  const thorough = parts.thorough ? thoroughChecks(parts, store, record) : [];
  for (const [name, look] of [...currentChecks(parts, store, record), ...thorough]) {
    findings.push(...(await attempt(name, look))); // oxlint-disable-line no-await-in-loop -- one reader of the disk
  }
  return findings;
};

const openOrFinding = async (config: Config): Promise<Store | Finding> => {
  if (!databaseExists(config)) {
    return fail(
      'database',
      'there is none',
      'name its folder with --data, or start "gantry serve" to make one',
    );
  }
  try {
    return await openStoreToRead(storeParts(config));
  } catch (error) {
    return failWith('database', error);
  }
};

/** No process has the SQLite database open. */
const isClosed = (config: Config): boolean =>
  config.database_url === null && isUnopened(databaseFile(config));

export const checkStore = async (parts: DoctorParts): Promise<Finding[]> => {
  const { config, skipped } = parts;
  const wasClosed = isClosed(config);
  const store = await openOrFinding(config);
  if ('check' in store) {
    return [store, ...(await attempt('stores', async () => await checkStores(config, null, skipped)))];
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
