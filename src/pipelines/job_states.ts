/**
 * What happens to a job. Each takes the lock of its pipeline, looks whether it may, and advances the pipeline; it
 * answers the row as it then is, null: there is no such way from where it was.
 */
import type { Updateable } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';
import type { JobStatus, JobsTable } from '../db/schema_ci.ts';
import { jobEnded, jobStarted } from '../environments/follow.ts';
import { playableStatuses } from '../job_statuses.ts';
import { advanceLocked, advanceStarted } from './advance.ts';
import { cancelJobs, isCancelable } from './cancel_jobs.ts';
import { isEnded } from './composite.ts';
import { cancelStartedLater } from './downstream_work.ts';
import { afterFailure } from './failure.ts';
import { type End, type Start, type Success, endRow, startAllRows, succeedRows } from './job_rows.ts';
import { protectAnew } from './protection.ts';
import { isRetryable, replaceJobs } from './replace_jobs.ts';
import { putInQueue, takeFromQueue } from './queue.ts';
import { resourcesChanged } from './resource_groups.ts';
import { type Job, type LockedJob, type Pipeline, jobOf, jobsById, lockJob, lockPipeline } from './store.ts';
import { startAgain } from './start_again.ts';
import { movesNothing } from './unmoved.ts';

/** Columns alone: whoever calls it advances the pipeline. */
export const changeJob = async (tx: Tx, job: Job, values: Updateable<JobsTable>): Promise<Job> =>
  await tx.db
    .updateTable('jobs')
    .set({ ...values, updated_at: tx.now })
    .where('id', '=', job.id)
    .returningAll()
    .executeTakeFirstOrThrow();

const stageStatus = compiled((db, { id }: { id: number }) =>
  db.selectFrom('stages').select('status').where('id', '=', id).compile(),
);

type Starting = { job: Job; stage_status: JobStatus; start: Start };

/** To runners: those that wait for one, of a locked pipeline. Brings `pipeline` up to date, too. By id. */
export const startLocked = async (
  tx: Tx,
  pipeline: Pipeline,
  starting: readonly Starting[],
): Promise<Map<number, Job>> => {
  const started = new Map<number, Job>();
  if (starting.length === 0) return started;
  await takeFromQueue(
    tx,
    starting.map(({ job }) => job),
  );
  for (const job of await startAllRows(tx, starting)) started.set(job.id, job);
  for (const job of started.values()) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    if (job.environment !== null) await jobStarted(tx, job);
  }
  await advanceStarted(
    tx,
    pipeline,
    starting.map(({ job, stage_status }) => ({ id: job.stage_id, status: stage_status })),
  );
  return started;
};

/** To a runner; null: another has it. */
export const startJob = async (tx: Tx, job_id: number, start: Start): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || locked.job.status !== 'pending') return null;
  const [stage] = await stageStatus(tx.db, { id: locked.job.stage_id });
  const { pipeline, job } = locked;
  const started = await startLocked(tx, pipeline, [{ job, stage_status: stage?.status ?? 'created', start }]);
  return started.get(job_id) ?? null;
};

/** Its answer was lost on the way to the runner: it waits for another. */
export const requeueJob = async (tx: Tx, job_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || locked.job.status !== 'running') return null;
  const job = await changeJob(tx, locked.job, {
    status: 'pending',
    runner_id: null,
    system_id: null,
    token_hash: null,
    started_at: null,
  });
  await putInQueue(tx, [job]);
  await advanceLocked(tx, locked.pipeline);
  return job;
};

export type Finish = {
  status: 'success' | 'failed';
  failure_reason?: string | null;
  exit_code?: number | null;
  /** Hundredths of a percent. */
  coverage?: number | null;
};

const nothing = { failure_reason: null, exit_code: null, coverage: null };

/** Of a job under its pipeline's lock that runs, or is given up. */
export const endJob = async (
  tx: Tx,
  locked: LockedJob,
  end: Pick<End, 'status'> & Partial<End>,
): Promise<Job> => {
  const job = await endRow(tx, locked.job, { ...nothing, ...end });
  await jobEnded(tx, job);
  await resourcesChanged(tx, [job]);
  if (job.status === 'success' && (await movesNothing(tx, locked.pipeline, [job]))) return job;
  const chosen = job.status === 'failed' ? await afterFailure(tx, job) : new Set<number>();
  await advanceLocked(tx, locked.pipeline, { chosen });
  // A failure may be allowed, or have been tried again.
  return job.status === 'failed' ? await jobOf(tx.db, job.id) : job;
};

/** What its runner says at its end. One that is being cancelled is canceled, however it ended. */
export const finishJob = async (tx: Tx, job_id: number, finish: Finish): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null) return null;
  if (locked.job.status === 'canceling') return await endJob(tx, locked, { status: 'canceled' });
  if (locked.job.status !== 'running') return null;
  const { status, exit_code = null, coverage = null } = finish;
  const failure_reason = status === 'failed' ? (finish.failure_reason ?? 'unknown_failure') : null;
  return await endJob(tx, locked, { status, failure_reason, exit_code, coverage });
};

/** Of these, each runs, touches nothing but its row, and is not the last that its stage waits for. */
const areQuiet = async (tx: Tx, pipeline: Pipeline, jobs: readonly Job[]): Promise<boolean> =>
  jobs.every(
    ({ status, environment, resource_group }) =>
      status === 'running' && environment === null && resource_group === null,
  ) && (await movesNothing(tx, pipeline, jobs));

/**
 * Jobs of one pipeline that have succeeded, as their runners say: where none of that moves anything else, in few
 * statements; false: nothing was done, and each is to be ended by itself.
 */
export const succeedQuietly = async (
  tx: Tx,
  pipeline_id: number,
  all: readonly { id: number; success: Success }[],
): Promise<boolean> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  const ids = all.map(({ id }) => id);
  const jobs = pipeline === null ? [] : await jobsById(tx.db, { ids });
  if (pipeline === null || jobs.length !== ids.length || !(await areQuiet(tx, pipeline, jobs))) return false;
  await succeedRows(tx, all);
  return true;
};

/** The service gives it up: it waited too long, or its runner is gone. */
export const dropJob = async (tx: Tx, job_id: number, failure_reason: string): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || isEnded(locked.job.status)) return null;
  if (locked.job.status === 'canceling') return await endJob(tx, locked, { status: 'canceled' });
  await takeFromQueue(tx, [locked.job]);
  return await endJob(tx, locked, { status: 'failed', failure_reason });
};

/** One that runs is `canceling` until its runner has heard of it; null: it has ended, or is being cancelled. */
export const cancelJob = async (tx: Tx, job_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || !isCancelable(locked.job)) return null;
  await cancelJobs(tx, [locked.job]);
  const { bridge, pipeline_id } = locked.job;
  if (bridge === 1) await cancelStartedLater(tx, { pipeline_id, job_id, is_any: false });
  await advanceLocked(tx, locked.pipeline);
  return await jobOf(tx.db, job_id);
};

/** Its runner has stopped it, or is not waited for any more. */
export const endCanceling = async (tx: Tx, job_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  return locked?.job.status === 'canceling' ? await endJob(tx, locked, { status: 'canceled' }) : null;
};

/** Starts what waits for a person, and a delayed one before its time. */
export const playJob = async (tx: Tx, job_id: number, user_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || !playableStatuses.includes(locked.job.status)) return null;
  await protectAnew(tx, locked.pipeline);
  await changeJob(tx, locked.job, { user_id, scheduled_at: null });
  await startAgain(tx, locked.pipeline, { job_id, user_id });
  return await jobOf(tx.db, job_id);
};

/** The new job that takes its place; null: it has not ended, or another already has its place. */
export const retryJob = async (tx: Tx, job_id: number, user_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || !isRetryable(locked.job)) return null;
  const [id = 0] = await replaceJobs(tx, [locked.job], user_id);
  await startAgain(tx, locked.pipeline, { job_id: id, user_id });
  return await jobOf(tx.db, id);
};
