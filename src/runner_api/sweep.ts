/** What nobody else ends: jobs whose runner is gone, and that run for too long. */
import type { Platform } from '../access/call.ts';
import type { Named } from '../blob/append_files.ts';
import type { Tx } from '../db/open.ts';
import { dropJob, endCanceling } from '../pipelines/job_states.ts';
import { type Job, lockJob } from '../pipelines/store.ts';
import { sweepBridges } from '../pipelines/sweep_bridges.ts';
import { each } from './each.ts';
import { endWithTrace } from './end.ts';
import { lose, lostOnce } from './lost.ts';
import { memoryOf } from './memory.ts';
import { openQueue, queueOf } from './queue.ts';
import { sweepPending } from './sweep_pending.ts';
import { heldStatuses } from '../job_statuses.ts';

const second = 1_000;
const minute = 60 * second;

/** A runner that lives sends the first piece of a log within seconds. */
const firstWord = minute;
const longestSilence = 5 * minute;
const longestCancel = 6 * minute;
/** What a runner has, past the time of its job, to end it and say so itself. */
const timeoutGrace = minute;

/** Rows of one look. */
const batch = 500;

/** Writes which jobs were heard, and whose. One that was lost once has been found again. */
const writeHeard = async ({ store }: Platform): Promise<void> => {
  const { heard } = memoryOf({ store });
  const ids = [...heard];
  heard.clear();
  if (ids.length === 0) return;
  await store.write(async ({ db, now, words }) => {
    await db
      .updateTable('jobs')
      .set({ seen_at: now })
      .where(words.oneOf('id', ids))
      .where('status', 'in', heldStatuses)
      .execute();
    // A runner that has all the jobs it takes does not ask for more, and is there all the same.
    const theirs = db.selectFrom('jobs').select('runner_id').where(words.oneOf('id', ids));
    await db.updateTable('runners').set({ contacted_at: now }).where('id', 'in', theirs).execute();
  });
};

type Seen = {
  status: string;
  started_at: number | null;
  seen_at: number | null;
  cancelled_at: number | null;
  timeout: number | null;
};

type Fate = 'lost' | 'silent' | 'late' | 'cancelled' | null;

/**
 * What becomes of a job in the hands of a runner. Pure.
 * @param since when the service was there again: before, no runner could be heard
 */
const fateOf = (job: Seen, now: number, since: number): Fate => {
  const { status, started_at, seen_at, cancelled_at, timeout } = job;
  if (status === 'canceling') return (cancelled_at ?? 0) < now - longestCancel ? 'cancelled' : null;
  if (status !== 'running' || started_at === null) return null;
  if (timeout !== null && started_at + timeout * second + timeoutGrace < now) return 'late';
  if (seen_at === null || seen_at === lostOnce) {
    return Math.max(started_at, since) < now - firstWord ? 'lost' : null;
  }
  return Math.max(seen_at, since) < now - longestSilence ? 'silent' : null;
};

const endAs = async (tx: Tx, id: number, fate: Fate): Promise<Job | null> => {
  if (fate === 'cancelled') return await endCanceling(tx, id);
  return await dropJob(tx, id, fate === 'late' ? 'job_execution_timeout' : 'stuck_or_timeout_failure');
};

type Fated = Named & { pipeline_id: number; fate: Fate };

const sweepOne = async (platform: Platform, { fate, ...job }: Fated, since: number): Promise<void> => {
  const isStill = (now: Seen): boolean => fateOf(now, platform.clock.now(), since) === fate;
  if (fate === 'lost') {
    await lose(platform, job.id, (now) => isStill(now));
    return;
  }
  await endWithTrace(platform, job, async (tx) => {
    const locked = await lockJob(tx, job.id);
    return locked !== null && isStill(locked.job) ? await endAs(tx, job.id, fate) : null;
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
  ] as const;
  for (let after = 0; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each look begins behind the last
    const rows = await store.db
      .selectFrom('jobs')
      .select(columns)
      .where('status', 'in', heldStatuses)
      .where('bridge', '=', 0)
      .where('id', '>', after)
      .orderBy('id')
      .limit(batch)
      .execute();
    const fates = rows.map((row) => ({
      id: row.id,
      project_id: row.project_id,
      pipeline_id: row.pipeline_id,
      fate: fateOf(row, now, since),
    }));
    const ended = fates.filter(({ fate }) => fate !== null);
    // oxlint-disable-next-line no-await-in-loop
    await each(platform, ended, async (one) => await sweepOne(platform, one, since));
    after = rows.at(-1)?.id ?? 0;
    if (rows.length < batch) return;
  }
};

/** Milliseconds between two looks, and how many of them are one at those that wait. */
const pause = 10_000;
const pendingEvery = 6;

/**
 * All of it, once. May run in several processes at once.
 * @param since when the service began: until then, it may have been away
 */
export const sweepJobs = async (platform: Platform, since = 0, isPendingToo = true): Promise<void> => {
  await writeHeard(platform);
  await sweepRunning(platform, since);
  if (!isPendingToo) return;
  await sweepPending(platform);
  await sweepBridges(platform);
  await openQueue(platform)?.resync();
};

/** Sweeps regularly until it is stopped, which also ends the polls that wait. */
export const keepSweeping = (platform: Platform): (() => Promise<void>) => {
  const since = platform.clock.now();
  let running = Promise.resolve();
  let round = 0;
  const again = (): void => {
    round += 1;
    const isPendingToo = round % pendingEvery === 0;
    running = running
      .then(async () => await sweepJobs(platform, since, isPendingToo))
      .catch((error: unknown) => platform.log.warn({ err: error }, 'jobs were not swept'));
  };
  const timer = setInterval(again, pause).unref();
  return async () => {
    clearInterval(timer);
    queueOf(platform).close();
    await running;
    await writeHeard(platform).catch(() => undefined);
  };
};
