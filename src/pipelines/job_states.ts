/**
 * What happens to a job. Each takes the lock of its pipeline, looks whether it may, and advances the pipeline; it
 * answers the row as it then is, null: there is no such way from where it was.
 */
import type { Updateable } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';
import type { JobsTable } from '../db/schema_ci.ts';
import { jobEnded, jobStarted } from '../environments/follow.ts';
import { advanceLocked } from './advance.ts';
import { cancelJobs, isCancelable } from './cancel_jobs.ts';
import { isEnded } from './composite.ts';
import { afterFailure } from './failure.ts';
import { type End, type Start, endRow, startRow } from './job_rows.ts';
import { isRetryable, replaceJobs } from './replace_jobs.ts';
import { putInQueue, takeFromQueue } from './queue.ts';
import { resourcesChanged } from './resource_groups.ts';
import { type Job, type LockedJob, jobOf, lockJob } from './store.ts';
import { startAgain } from './start_again.ts';

const change = async (tx: Tx, job: Job, values: Updateable<JobsTable>): Promise<Job> =>
  await tx.db
    .updateTable('jobs')
    .set({ ...values, updated_at: tx.now })
    .where('id', '=', job.id)
    .returningAll()
    .executeTakeFirstOrThrow();

const stageStatus = compiled((db, { id }: { id: number }) =>
  db.selectFrom('stages').select('status').where('id', '=', id).compile(),
);

/** One more that runs changes nothing where others run. */
const isTold = async (tx: Tx, { pipeline, job }: LockedJob): Promise<boolean> => {
  if (pipeline.status !== 'running') return false;
  const [stage] = await stageStatus(tx.db, { id: job.stage_id });
  return stage?.status === 'running';
};

/** To a runner; null: another has it. */
export const startJob = async (tx: Tx, job_id: number, start: Start): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || locked.job.status !== 'pending') return null;
  await takeFromQueue(tx, [locked.job]);
  const job = await startRow(tx, locked.job, start);
  await jobStarted(tx, job);
  if (!(await isTold(tx, locked))) await advanceLocked(tx, locked.pipeline);
  return job;
};

/** Its answer was lost on the way to the runner: it waits for another. */
export const requeueJob = async (tx: Tx, job_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || locked.job.status !== 'running') return null;
  const job = await change(tx, locked.job, {
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

const ended = async (tx: Tx, locked: LockedJob, end: Pick<End, 'status'> & Partial<End>): Promise<Job> => {
  const job = await endRow(tx, locked.job, { ...nothing, ...end });
  await jobEnded(tx, job);
  await resourcesChanged(tx, [job]);
  const chosen = job.status === 'failed' ? await afterFailure(tx, job) : new Set<number>();
  await advanceLocked(tx, locked.pipeline, { chosen });
  // A failure may be allowed, or have been tried again.
  return job.status === 'failed' ? await jobOf(tx.db, job.id) : job;
};

/** What its runner says at its end. One that is being cancelled is canceled, however it ended. */
export const finishJob = async (tx: Tx, job_id: number, finish: Finish): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null) return null;
  if (locked.job.status === 'canceling') return await ended(tx, locked, { status: 'canceled' });
  if (locked.job.status !== 'running') return null;
  const { status, exit_code = null, coverage = null } = finish;
  const failure_reason = status === 'failed' ? (finish.failure_reason ?? 'unknown_failure') : null;
  return await ended(tx, locked, { status, failure_reason, exit_code, coverage });
};

/** The service gives it up: it waited too long, or its runner is gone. */
export const dropJob = async (tx: Tx, job_id: number, failure_reason: string): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || isEnded(locked.job.status)) return null;
  if (locked.job.status === 'canceling') return await ended(tx, locked, { status: 'canceled' });
  await takeFromQueue(tx, [locked.job]);
  return await ended(tx, locked, { status: 'failed', failure_reason });
};

/** One that runs is `canceling` until its runner has heard of it; null: it has ended, or is being cancelled. */
export const cancelJob = async (tx: Tx, job_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || !isCancelable(locked.job)) return null;
  await cancelJobs(tx, [locked.job]);
  await advanceLocked(tx, locked.pipeline);
  return await jobOf(tx.db, job_id);
};

/** Its runner has stopped it, or is not waited for any more. */
export const endCanceling = async (tx: Tx, job_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  return locked?.job.status === 'canceling' ? await ended(tx, locked, { status: 'canceled' }) : null;
};

/** Starts what waits for a person, and a delayed one before its time. */
export const playJob = async (tx: Tx, job_id: number, user_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || (locked.job.status !== 'manual' && locked.job.status !== 'scheduled')) return null;
  await change(tx, locked.job, { user_id, scheduled_at: null });
  await startAgain(tx, locked.pipeline, job_id);
  return await jobOf(tx.db, job_id);
};

/** The new job that takes its place; null: it has not ended, or another already has its place. */
export const retryJob = async (tx: Tx, job_id: number, user_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || !isRetryable(locked.job)) return null;
  const [id = 0] = await replaceJobs(tx, [locked.job], user_id);
  await startAgain(tx, locked.pipeline, id);
  return await jobOf(tx.db, id);
};
