/** Ends running jobs that nobody else ends: their runner is gone, or they exceed their timeout. */
import { sql } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import type { TraceKey } from '../../../platform/blob/trace_path.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { failJob, finishCanceling } from '../../pipelines/processing/job_transitions.ts';
import { type Job, lockJob } from '../../pipelines/pipeline_rows.ts';
import { sweepBridges } from '../../pipelines/downstream/sweep_trigger_jobs.ts';
import { forEachLogged } from '../for_each_logged.ts';
import { endWithStoredTrace } from '../end_with_stored_trace.ts';
import { handleLostJob, lostOnce } from '../undelivered_jobs.ts';
import { getJobCache } from '../running_job_cache.ts';
import { openQueue, getQueue } from '../queue/job_queue.ts';
import { sweepPending } from './sweep_pending.ts';
import { heldStatuses } from '../../../core/job_statuses.ts';
import { minuteMilliseconds, watchClock } from '../../../platform/time.ts';

const second = 1_000;

/** A working runner sends the first chunk of a trace within seconds. */
const firstChunkTimeout = minuteMilliseconds;
const maxSilenceMilliseconds = 5 * minuteMilliseconds;
const maxCancelMilliseconds = 6 * minuteMilliseconds;
/** Time after the job's timeout in which the runner may end the job itself. */
const timeoutGrace = minuteMilliseconds;

/** Rows of one query. */
const batch = 500;

/** Stores which jobs and runners were active. Overwrites the mark of a job whose answer was lost once. */
const storeActivity = async ({ store }: Platform): Promise<void> => {
  const { heard: activeIds } = getJobCache({ store });
  const ids = [...activeIds];
  activeIds.clear();
  if (ids.length === 0) return;
  await store.write(async ({ db, now, dialect }) => {
    await db
      .updateTable('jobs')
      .set({ seen_at: now })
      .where(dialect.oneOf('id', ids))
      .where('status', 'in', heldStatuses)
      .execute();
    // A runner at its job limit requests no jobs, but is online.
    const theirs = db.selectFrom('jobs').select('runner_id').where(dialect.oneOf('id', ids));
    await db.updateTable('runners').set({ contacted_at: now }).where('id', 'in', theirs).execute();
  });
};

type RunningJob = {
  status: string;
  started_at: number | null;
  seen_at: number | null;
  cancelled_at: number | null;
  timeout: number | null;
};

type Fate = 'lost' | 'silent' | 'late' | 'canceled' | null;

/**
 * Decides what happens to a running job. Pure.
 * @param since when the service became reachable again, or its clock was set: before, runners could not report
 */
const decideFate = (job: RunningJob, now: number, since: number): Fate => {
  const { status, started_at, seen_at, cancelled_at, timeout } = job;
  if (status === 'canceling') return (cancelled_at ?? 0) < now - maxCancelMilliseconds ? 'canceled' : null;
  if (status !== 'running' || started_at === null) return null;
  if (timeout !== null && started_at + timeout * second + timeoutGrace < now) return 'late';
  if (seen_at === null || seen_at === lostOnce) {
    return Math.max(started_at, since) < now - firstChunkTimeout ? 'lost' : null;
  }
  return Math.max(seen_at, since) < now - maxSilenceMilliseconds ? 'silent' : null;
};

const endAs = async (tx: Tx, id: number, fate: Fate): Promise<Job | null> => {
  if (fate === 'canceled') return await finishCanceling(tx, id);
  return await failJob(tx, id, fate === 'late' ? 'job_execution_timeout' : 'stuck_or_timeout_failure');
};

type Fated = TraceKey & { pipeline_id: number; fate: Fate };

const sweepOne = async (platform: Platform, { fate, ...job }: Fated, since: number): Promise<void> => {
  const isUnchanged = (now: RunningJob): boolean => decideFate(now, platform.clock.now(), since) === fate;
  if (fate === 'lost') {
    await handleLostJob(platform, job.id, (now) => isUnchanged(now));
    return;
  }
  await endWithStoredTrace(platform, job, async (tx) => {
    const locked = await lockJob(tx, job.id);
    return locked !== null && isUnchanged(locked.job) ? await endAs(tx, job.id, fate) : null;
  });
};

const sweepRunning = async (platform: Platform, since: number): Promise<void> => {
  const { store, clock } = platform;
  const now = clock.now();
  const columns = [
    'id',
    'project_id',
    'pipeline_id',
    'status',
    'started_at',
    'seen_at',
    'cancelled_at',
    'timeout',
    'trace_key',
  ] as const;
  for (let after = 0; ;) {
    const rows = await store.db
      .selectFrom('jobs')
      .select(columns)
      // Literals, because with parameters SQLite would read all jobs instead of the partial index.
      .where(
        'status',
        'in',
        heldStatuses.map((status) => sql.lit(status)),
      )
      .where('bridge', '=', sql.lit(0))
      .where('id', '>', after)
      .orderBy('id')
      .limit(batch)
      .execute();
    const fates = rows.map((row) => ({
      id: row.id,
      project_id: row.project_id,
      pipeline_id: row.pipeline_id,
      trace_key: row.trace_key,
      fate: decideFate(row, now, since),
    }));
    const ended = fates.filter(({ fate }) => fate !== null);
    await forEachLogged(platform, ended, async (one) => await sweepOne(platform, one, since));
    after = rows.at(-1)?.id ?? 0;
    if (rows.length < batch) return;
  }
};

/** Milliseconds between two sweeps, and how many of them pass per sweep of pending jobs. */
const pause = 10_000;
const pendingEvery = 6;

/**
 * Sweeps once. Several processes may sweep at the same time.
 * @param since when the service started, or its clock was set
 */
export const sweepJobs = async (platform: Platform, since = 0, isPendingToo = true): Promise<void> => {
  await storeActivity(platform);
  await sweepRunning(platform, since);
  if (!isPendingToo) return;
  await sweepPending(platform);
  await sweepBridges(platform);
  await openQueue(platform)?.resync();
};

/**
 * Returns a function that sweeps as `sweepJobs` does. After the clock was set, runners have their time again to report:
 * what they last reported looks as old as the step is long.
 */
export const makeSweeper = (platform: Platform): ((isPendingToo: boolean) => Promise<void>) => {
  const readStep = watchClock();
  let since = platform.clock.now();
  readStep(since);
  return async (isPendingToo) => {
    const now = platform.clock.now();
    if (readStep(now) !== null) since = now;
    await sweepJobs(platform, since, isPendingToo);
  };
};

/** Sweeps periodically. Returns a function that stops it and ends all waiting polls. */
export const startSweeping = (platform: Platform): (() => Promise<void>) => {
  const sweep = makeSweeper(platform);
  let running = Promise.resolve();
  let round = 0;
  const again = (): void => {
    round += 1;
    const isPendingToo = round % pendingEvery === 0;
    running = running
      .then(async () => await sweep(isPendingToo))
      .catch((error: unknown) => platform.log.warn({ err: error }, 'sweeping jobs failed'));
  };
  const timer = setInterval(again, pause).unref();
  return async () => {
    clearInterval(timer);
    getQueue(platform).close();
    await running;
    await storeActivity(platform).catch(() => undefined);
  };
};
