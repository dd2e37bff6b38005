/** Reads how the parts of the service are. Each read is cheap, and abandoned after five seconds. */
import { sql } from 'kysely';
import { statfs } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { type JobCounts, countInstanceJobs } from '../../../ci/jobs/instance_jobs.ts';
import type { Platform } from '../../../core/platform.ts';
import { type StorageStatus, getLocalRoot } from '../../../platform/git/storages.ts';
import { type WorkFigures, loadWorkFigures } from '../../../platform/queue/inspect_work.ts';
import { type LastBackups, loadLastBackups } from './last_backups.ts';
import { type RunningBackup, loadNextBackup, loadRunningBackup } from './running_backup.ts';

const maxWait = 5_000;

/** Resolves to null if a part fails or takes too long. */
const orNull = async <T>(part: Promise<T>): Promise<T | null> => {
  const stop = new AbortController();
  const late = wait(maxWait, null, { signal: stop.signal, ref: false }).catch(() => null);
  try {
    return await Promise.race([part.catch(() => null), late]);
  } finally {
    stop.abort();
  }
};

export type Space = { free: number; total: number };

const readSpace = async (folder: string): Promise<Space> => {
  const { bavail, bsize, blocks } = await statfs(folder);
  return { free: bavail * bsize, total: blocks * bsize };
};

export type DatabaseFacts = { engine: 'sqlite' | 'postgres'; version: string; size: number };

const readDatabase = async ({ store }: Platform): Promise<DatabaseFacts> => {
  const { rows } = await sql<{ version: string; size: number | string }>`${store.dialect.facts}`.execute(
    store.db,
  );
  const [facts] = rows;
  if (facts === undefined) throw new Error('the database returned no facts');
  return { engine: store.dialect.engine, version: facts.version, size: Number(facts.size) };
};

export type StorageFacts = {
  name: string;
  /** Folder, or address of a remote gitd. */
  place: string;
  /** null: gitd does not answer. */
  status: Pick<StorageStatus, 'git' | 'version' | 'space' | 'load'> | null;
  /** null: not known. */
  space: Space | null;
  /** Until when its certificate is valid, in milliseconds since 1970; null: it has none. */
  certificate_ends: number | null;
};

const readStorages = async ({ config, git }: Platform): Promise<StorageFacts[]> =>
  await Promise.all(
    config.repository_storages.map(async (site) => {
      const { name, address } = site;
      const root = getLocalRoot(config.data, site);
      const [status, space] = await Promise.all([
        orNull(git.status(name)),
        address === null ? orNull(readSpace(root)) : null,
      ]);
      return {
        name,
        place: address === null ? root : `${address.host}:${address.port}`,
        status,
        space: space ?? status?.space ?? null,
        certificate_ends: git.certificateEnds(name),
      };
    }),
  );

export type RunnerFacts = JobCounts & { runners: number; lately: number };

/** Time within which a runner that lives asks for work. */
const runnerSilence = 2 * 3_600_000;

const readRunners = async ({ store, clock }: Platform): Promise<RunnerFacts> => {
  const [counts, runners] = await Promise.all([
    countInstanceJobs(store.db),
    store.db
      .selectFrom('runners')
      .select(({ fn }) => fn.countAll<number>().as('runners'))
      .select(
        sql<number>`count(case when contacted_at > ${clock.now() - runnerSilence} then 1 end)`.as('lately'),
      )
      .executeTakeFirstOrThrow(),
  ]);
  return { ...counts, ...runners };
};

export type BackupFacts = LastBackups & {
  /** Whether the service knows a place of backups. */
  isConfigured: boolean;
  /** Whether backups are verified here (`GANTRY_BACKUP_VERIFY`). */
  isVerifying: boolean;
  /** null: none runs. */
  running: RunningBackup | null;
  /** When the next scheduled backup is due, in milliseconds since 1970; null: none is scheduled. */
  next_at: number | null;
};

const readBackups = async ({ store, clock, config }: Platform): Promise<BackupFacts> => ({
  ...(await loadLastBackups(store.db, clock.now())),
  isConfigured: config.backup_to !== null,
  isVerifying: config.backup_verify !== 'never',
  running: await loadRunningBackup(store.db, clock.now()),
  next_at: await loadNextBackup(store.db),
});

export type HealthFacts = {
  database: DatabaseFacts | null;
  storages: StorageFacts[];
  /** Data folder. */
  space: Space | null;
  /** Blob store of artifacts and uploads: whether it answers. */
  hasBlobs: boolean;
  runners: RunnerFacts | null;
  work: WorkFigures[] | null;
  backups: BackupFacts | null;
};

export const readHealth = async (platform: Platform): Promise<HealthFacts> => {
  const { store, clock, config, blobs } = platform;
  const [database, storages, space, hasBlobs, runners, work, backups] = await Promise.all([
    orNull(readDatabase(platform)),
    readStorages(platform),
    orNull(readSpace(config.data)),
    orNull(blobs.check().then(() => true)),
    orNull(readRunners(platform)),
    orNull(loadWorkFigures(store.db, clock.now())),
    orNull(readBackups(platform)),
  ]);
  return { database, storages, space, hasBlobs: hasBlobs === true, runners, work, backups };
};
