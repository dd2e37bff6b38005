/**
 * Creates and verifies backups on schedule and on request. Each runs in a separate process, so that it takes neither
 * memory nor time from requests.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { findCronProblems, computeNextRun } from '../../ci/pipelines/schedules/cron.ts';
import type { Platform } from '../../core/platform.ts';
import { backupWork, requestedBackupWork } from '../../doors/instance/health/running_backup.ts';
import { StartFailure, unavailable } from '../../platform/errors.ts';
import { programPath } from '../../platform/package_files.ts';
import { type WorkHandler, enqueue } from '../../platform/queue/enqueue.ts';
import { formatTime } from '../../platform/time.ts';
import { isArchive, isBucket } from './open_place.ts';
import { findFolderProblem } from './places/check_folder.ts';

/** Characters of the error output that are logged. */
const maxErrorLength = 2_000;

type Scheduled = Pick<Platform, 'config' | 'store' | 'clock' | 'log'>;

const requireSchedule = async ({ config, clock }: Scheduled, cron: string): Promise<void> => {
  if (config.backup_to === null)
    throw new StartFailure('GANTRY_BACKUP_TO is needed: GANTRY_BACKUP_SCHEDULE is set');
  if (isArchive(config.backup_to))
    throw new StartFailure(
      `GANTRY_BACKUP_TO is one file, ${config.backup_to}, which each backup would overwrite: name a folder or s3://BUCKET/PREFIX for GANTRY_BACKUP_SCHEDULE`,
    );
  const problems = await findCronProblems({ cron, cron_timezone: 'UTC' }, clock.now());
  if (problems.cron !== undefined)
    throw new StartFailure(
      `GANTRY_BACKUP_SCHEDULE is not a cron pattern (it is "${cron}"): use one such as "30 2 * * *"`,
    );
};

/** Logs that backups will fail. The service starts nevertheless: the folder may be of another machine that is away. */
const warnOfFolder = async ({ config, log }: Scheduled): Promise<void> => {
  const err = await findFolderProblem(config.backup_to ?? '');
  if (err !== null)
    log.error(
      { err, folder: config.backup_to },
      'scheduled backups will fail: the folder of GANTRY_BACKUP_TO cannot be written. It must belong to the user of the service, and a unit of systemd must name it in ReadWritePaths=',
    );
};

/** Logs that services on several machines, each of which makes some of the backups, need a place in common. */
const warnOfSeparateFolders = ({ config, log }: Scheduled): void => {
  const isShared = config.database_url !== null && config.blob_s3_endpoint !== null;
  if (!isShared || isBucket(config.backup_to ?? '')) return;
  log.warn(
    { folder: config.backup_to },
    'GANTRY_BACKUP_TO is a folder: of several services, any one makes the next backup, so all need the same folder, such as one of a file server, or a bucket',
  );
};

/** Milliseconds after which a failed backup is tried again. After the last attempt, the next one is that of the schedule. */
const retryDelays = [10 * 60_000, 60 * 60_000];

/**
 * Enqueues the next backup; one row for all services of the database. One that is overdue stays so.
 * @param failures of the attempts before
 * @returns the time of the next attempt; null: there is none
 */
const enqueueNext = async ({ config, store, clock }: Scheduled, failures: number): Promise<number | null> => {
  const { backup_schedule: cron } = config;
  if (cron === null) return null;
  const now = clock.now();
  const planned = (await computeNextRun({ cron, cron_timezone: 'UTC' }, now)) ?? Infinity;
  const retry = now + (retryDelays[failures - 1] ?? Infinity);
  const run_at = Math.min(planned, retry);
  if (run_at === Infinity) return null;
  const payload = { failures: retry < planned ? failures : 0 };
  await store.write(async (tx) => {
    await enqueue(tx, backupWork, payload, { unique_key: backupWork, run_at });
    // Another service, which started meanwhile, may have planned the next one without these failures.
    if (failures > 0)
      await tx.db
        .updateTable('work')
        .set({ payload: JSON.stringify(payload) })
        .where('unique_key', '=', backupWork)
        .execute();
  });
  return run_at;
};

/** Backups in progress, by platform. A stop of the service ends them. */
const children = new WeakMap<Scheduled['store'], Set<ChildProcess>>();

const startChild = ({ config }: Scheduled): ChildProcess => {
  const { backup_to, backup_verify } = config;
  const words = ['backup', 'create', '--json', '--verify', backup_verify, '--to', backup_to ?? ''];
  return spawn(process.execPath, [programPath('src/app/cli/main.ts', 'cli/main'), ...words], {
    env: { ...process.env, GANTRY_DATA: config.data },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
};

/** What the command prints. */
type Outcome = {
  name: string;
  verified: boolean;
  /** What the verification found; null: nothing, or there was none. */
  verification_error: string | null;
  problems: string[];
  warnings: string[];
};

/** Parses what a command printed that did not succeed; null: it made no backup. */
const parseFailed = (output: string): Outcome | null => {
  try {
    return JSON.parse(output) as Outcome;
  } catch {
    return null;
  }
};

/** Collects the output of a child: of errors, the end. */
const collectOutput = ({ stdout, stderr }: ChildProcess): { output: () => string; errors: () => string } => {
  let [output, errors] = ['', ''];
  stdout?.setEncoding('utf8').on('data', (text: string) => void (output += text));
  stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => void (errors = (errors + text).slice(-maxErrorLength)));
  return { output: () => output, errors: () => errors.trim() };
};

/** @throws if no backup was made, or the command was ended */
const runChild = async (platform: Scheduled): Promise<Outcome> => {
  const child = startChild(platform);
  const own = children.get(platform.store) ?? new Set();
  children.set(platform.store, own.add(child));
  const { output, errors } = collectOutput(child);
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject).once('close', resolve);
  try {
    const code = await promise;
    if (child.killed) throw new Error('the service stopped', { cause: unavailable() });
    if (code === 0) return JSON.parse(output()) as Outcome;
    const made = parseFailed(output());
    if (made === null) throw new Error(errors());
    return made;
  } finally {
    own.delete(child);
  }
};

type Cause = 'scheduled' | 'requested';

const logOutcome = ({ log }: Scheduled, made: Outcome, cause: Cause): void => {
  const { name, verified, verification_error: err, problems, warnings } = made;
  if (problems.length + warnings.length > 0)
    log.warn({ problems, warnings }, `the ${cause} backup has warnings`);
  if (err !== null) log.error({ err, name }, `a ${cause} backup was made, but not verified`);
  else log.info(`a ${cause} backup was made${verified ? ' and verified' : ''}`);
};

/** Milliseconds until a backup that a stop of its service ended is made by another, or after the next start. */
const makeUpPause = 60_000;

/** Makes the waiting row early, which another service may have planned meanwhile and which replaces the ended one. */
const makeUp = async ({ store, clock }: Scheduled): Promise<void> => {
  const options = { unique_key: backupWork, run_at: clock.now() + makeUpPause };
  await store.write(async (tx) => await enqueue(tx, backupWork, { failures: 0 }, options));
};

/**
 * Creates the backup that an administrator requested. A failure is logged and recorded; a stop of the service leaves the
 * request for the next start.
 */
const makeRequested = async (platform: Scheduled): Promise<void> => {
  const { config, log } = platform;
  if (config.backup_to === null || config.quiet) return;
  try {
    logOutcome(platform, await runChild(platform), 'requested');
  } catch (error) {
    if ((error as Error).cause !== undefined) throw error;
    log.error({ err: error }, 'the requested backup failed');
  }
};

export const backupHandlers = (platform: Scheduled): { [name: string]: WorkHandler } => ({
  [requestedBackupWork]: async () => await makeRequested(platform),
  [backupWork]: async ({ failures }) => {
    if (platform.config.backup_schedule === null) return;
    let made: Outcome;
    try {
      made = await runChild(platform);
    } catch (error) {
      if ((error as Error).cause !== undefined) {
        await makeUp(platform);
        throw error;
      }
      const next = await enqueueNext(platform, Number(failures ?? 0) + 1);
      const next_attempt_at = next === null ? null : formatTime(next);
      platform.log.error({ err: error, next_attempt_at }, 'the scheduled backup failed');
      return;
    }
    await enqueueNext(platform, 0);
    logOutcome(platform, made, 'scheduled');
  },
});

/**
 * Schedules the next backup, if configured.
 * @returns a function that ends a backup in progress
 * @throws StartFailure for settings that are not a valid schedule
 */
export const startBackups = async (platform: Scheduled): Promise<() => void> => {
  const { backup_schedule } = platform.config;
  if (backup_schedule !== null) {
    await requireSchedule(platform, backup_schedule);
    await warnOfFolder(platform);
    warnOfSeparateFolders(platform);
    await enqueueNext(platform, 0);
  }
  return () => {
    for (const child of children.get(platform.store) ?? []) child.kill();
  };
};
