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
import { handleLostJob } from '../undelivered_jobs.ts';
import { getJobCache } from '../running_job_cache.ts';
import { openQueue, getQueue } from '../queue/job_queue.ts';
import { sweepPending } from './sweep_pending.ts';
import { heldStatuses } from '../../../core/job_statuses.ts';
import { watchClock } from '../../../platform/time.ts';
import { type ClockHistory, type Fate, type RunningJob, addStep, decideFate } from './job_fate.ts';

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

const endAs = async (tx: Tx, id: number, fate: Fate): Promise<Job | null> => {
  if (fate === 'canceled') return await finishCanceling(tx, id);
  return await failJob(tx, id, fate === 'late' ? 'job_execution_timeout' : 'stuck_or_timeout_failure');
};

type Fated = TraceKey & { pipeline_id: number; fate: Fate };

const sweepOne = async (
  platform: Platform,
  { fate, ...job }: Fated,
  history: ClockHistory,
): Promise<void> => {
  const isUnchanged = (now: RunningJob): boolean => decideFate(now, platform.clock.now(), history) === fate;
  if (fate === 'lost') {
    await handleLostJob(platform, job.id, (now) => isUnchanged(now));
    return;
  }
  await endWithStoredTrace(platform, job, async (tx) => {
    const locked = await lockJob(tx, job.id);
    return locked !== null && isUnchanged(locked.job) ? await endAs(tx, job.id, fate) : null;
  });
};

const sweepRunning = async (platform: Platform, history: ClockHistory): Promise<void> => {
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
      fate: decideFate(row, now, history),
    }));
    const ended = fates.filter(({ fate }) => fate !== null);
    await forEachLogged(platform, ended, async (one) => await sweepOne(platform, one, history));
    after = rows.at(-1)?.id ?? 0;
    if (rows.length < batch) return;
  }
};

/** Milliseconds between two sweeps, and how many of them pass per sweep of pending jobs. */
const pause = 10_000;
const pendingEvery = 6;

/** A clock that was right at all times of a service that was always reachable. */
const steadyClock: ClockHistory = { since: 0, steps: [] };

/** Sweeps once. Several processes may sweep at the same time. */
export const sweepJobs = async (
  platform: Platform,
  history = steadyClock,
  isPendingToo = true,
): Promise<void> => {
  await storeActivity(platform);
  await sweepRunning(platform, history);
  if (!isPendingToo) return;
  await sweepPending(platform, history);
  await sweepBridges(platform);
  await openQueue(platform)?.resync();
};

/**
 * Returns a function that sweeps as `sweepJobs` does. After the clock was set, runners have their time again to report,
 * and jobs their timeout: what was stored before looks as old as the step is long.
 */
export const makeSweeper = (platform: Platform): ((isPendingToo: boolean) => Promise<void>) => {
  const readStep = watchClock();
  let history: ClockHistory = { since: platform.clock.now(), steps: [] };
  readStep(history.since);
  return async (isPendingToo) => {
    const now = platform.clock.now();
    const step = readStep(now);
    if (step !== null) history = addStep(history, step, now);
    await sweepJobs(platform, history, isPendingToo);
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
