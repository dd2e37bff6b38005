/**
 * State transitions of a job. Each locks the pipeline, checks the transition, and advances the pipeline. It returns the
 * new row, or null if the job's status does not allow the transition.
 */
import type { Updateable } from 'kysely';
import { compiled, getDialect } from '../../../platform/db/compiled_query.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type { JobStatus, JobsTable } from '../../../platform/db/schema/ci.ts';
import { handleJobEnd, handleJobStart } from '../../environments/follow_jobs.ts';
import { playableStatuses, isEnded } from '../../../core/job_statuses.ts';
import { advanceLockedPipeline, advanceStarted } from './advance_pipeline.ts';
import { cancelJobs, isCancelable } from './cancel_jobs.ts';
import { collectJobs } from '../../../core/events/collect_statuses.ts';
import { enqueueCancelDownstream } from '../downstream/work.ts';
import { applyFailurePolicy } from './failure_policy.ts';
import {
  type End,
  type Start,
  type Success,
  updateEndedRow,
  updateStartedRows,
  updateSucceededRows,
} from './update_job_rows.ts';
import { refreshProtectedFlag } from './refresh_protected_flag.ts';
import { isRetryable, replaceJobs } from './replace_jobs.ts';
import { enqueueJobs, dequeueJobs } from './pending_jobs.ts';
import { enqueueResourceAssignment } from '../resource_groups/enqueue_assignment.ts';
import {
  type Job,
  type LockedJob,
  type Pipeline,
  requireJob,
  selectJobsById,
  lockJob,
  lockPipeline,
} from '../pipeline_rows.ts';
import { startAndReopen } from './restart_skipped.ts';
import { isIsolatedFinish } from './finish_without_advance.ts';

/** Updates columns of a job. The caller advances the pipeline. */
export const changeJob = async (tx: Tx, job: Job, values: Updateable<JobsTable>): Promise<Job> =>
  await tx.db
    .updateTable('jobs')
    .set({ ...values, updated_at: tx.now })
    .where('id', '=', job.id)
    .returningAll()
    .executeTakeFirstOrThrow();

const selectStageStatus = compiled((db, { id }: { id: number }) =>
  db.selectFrom('stages').select('status').where('id', '=', id).compile(),
);

type Starting = { job: Job; stage_status: JobStatus; start: Start };

/** Assigns pending jobs of a locked pipeline to runners. Updates `pipeline` and returns the jobs by id. */
export const startLockedJobs = async (
  tx: Tx,
  pipeline: Pipeline,
  starting: readonly Starting[],
): Promise<Map<number, Job>> => {
  const started = new Map<number, Job>();
  if (starting.length === 0) return started;
  await dequeueJobs(
    tx,
    starting.map(({ job }) => job),
  );
  for (const job of await updateStartedRows(tx, starting)) started.set(job.id, job);
  for (const job of started.values()) {
    if (job.environment !== null) await handleJobStart(tx, job);
  }
  await advanceStarted(
    tx,
    pipeline,
    starting.map(({ job, stage_status }) => ({ id: job.stage_id, status: stage_status })),
  );
  return started;
};

/** Assigns a pending job to a runner; null if another runner has it. */
export const startJob = async (tx: Tx, job_id: number, start: Start): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || locked.job.status !== 'pending') return null;
  const [stage] = await selectStageStatus(tx.db, { id: locked.job.stage_id });
  const { pipeline, job } = locked;
  const started = await startLockedJobs(tx, pipeline, [
    { job, stage_status: stage?.status ?? 'created', start },
  ]);
  return started.get(job_id) ?? null;
};

/** Puts a job back into the queue after the response to its runner was lost. */
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
  await enqueueJobs(tx, [job]);
  collectJobs(tx, [job]);
  await advanceLockedPipeline(tx, locked.pipeline);
  return job;
};

export type Finish = {
  status: 'success' | 'failed';
  failure_reason?: string | null;
  exit_code?: number | null;
  /** Hundredths of a percent. */
  coverage?: number | null;
};

const emptyEnd = { failure_reason: null, exit_code: null, coverage: null };

/** Ends a job under its pipeline's lock, applies the failure policy and advances the pipeline. */
export const endJob = async (
  tx: Tx,
  locked: LockedJob,
  end: Pick<End, 'status'> & Partial<End>,
): Promise<Job> => {
  const job = await updateEndedRow(tx, locked.job, { ...emptyEnd, ...end });
  await handleJobEnd(tx, job);
  await enqueueResourceAssignment(tx, [job]);
  if (job.status === 'success' && (await isIsolatedFinish(tx, locked.pipeline, [job]))) return job;
  const chosen = job.status === 'failed' ? await applyFailurePolicy(tx, job) : new Set<number>();
  await advanceLockedPipeline(tx, locked.pipeline, { chosen });
  // The failure policy may have changed the row.
  return job.status === 'failed' ? await requireJob(tx.db, job.id) : job;
};

/** Ends a running job as its runner reports. A job that is being canceled becomes `canceled` in any case. */
export const finishJob = async (tx: Tx, job_id: number, finish: Finish): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null) return null;
  if (locked.job.status === 'canceling') return await endJob(tx, locked, { status: 'canceled' });
  if (locked.job.status !== 'running') return null;
  const { status, exit_code = null, coverage = null } = finish;
  const failure_reason = status === 'failed' ? (finish.failure_reason ?? 'unknown_failure') : null;
  return await endJob(tx, locked, { status, failure_reason, exit_code, coverage });
};

/** Returns whether each job runs, has no environment or resource group, and is not the last of its stage. */
const areIsolated = async (tx: Tx, pipeline: Pipeline, jobs: readonly Job[]): Promise<boolean> =>
  jobs.every(
    ({ status, environment, resource_group }) =>
      status === 'running' && environment === null && resource_group === null,
  ) && (await isIsolatedFinish(tx, pipeline, jobs));

/**
 * Ends successful jobs of one pipeline in few statements if none of them releases other jobs. Returns false without any
 * change otherwise; the caller then ends each with `finishJob`.
 */
export const finishIsolatedSuccesses = async (
  tx: Tx,
  pipeline_id: number,
  all: readonly { id: number; success: Success }[],
): Promise<boolean> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  const ids = all.map(({ id }) => id);
  const jobs = pipeline === null ? [] : await selectJobsById(tx.db, { ids });
  if (pipeline === null || jobs.length !== ids.length || !(await areIsolated(tx, pipeline, jobs)))
    return false;
  await updateSucceededRows(tx, pipeline.project_id, all);
  return true;
};

/** Fails a job on the service's side: it waited too long or its runner is gone. */
export const failJob = async (tx: Tx, job_id: number, failure_reason: string): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || isEnded(locked.job.status)) return null;
  if (locked.job.status === 'canceling') return await endJob(tx, locked, { status: 'canceled' });
  await dequeueJobs(tx, [locked.job]);
  return await endJob(tx, locked, { status: 'failed', failure_reason });
};

/** Cancels a job. A running job is `canceling` until its runner stops. null if it has ended or is being canceled. */
export const cancelJob = async (tx: Tx, job_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || !isCancelable(locked.job)) return null;
  await cancelJobs(tx, [locked.job]);
  const { bridge, pipeline_id } = locked.job;
  if (bridge === 1) await enqueueCancelDownstream(tx, { pipeline_id, job_id, is_any: false });
  await advanceLockedPipeline(tx, locked.pipeline);
  return await requireJob(tx.db, job_id);
};

/** Completes a cancellation once the runner has stopped the job or its grace period is over. */
export const finishCanceling = async (tx: Tx, job_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  return locked?.job.status === 'canceling' ? await endJob(tx, locked, { status: 'canceled' }) : null;
};

/** Starts a manual job, or a delayed one before its time. */
export const playJob = async (tx: Tx, job_id: number, user_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || !playableStatuses.includes(locked.job.status)) return null;
  await refreshProtectedFlag(tx, locked.pipeline);
  await changeJob(tx, locked.job, { user_id, scheduled_at: null });
  await startAndReopen(tx, locked.pipeline, { job_ids: [job_id], user_id });
  return await requireJob(tx.db, job_id);
};

/** Starts manual or delayed jobs of a pipeline, and advances it once. @returns the number of jobs that were started */
export const playJobs = async (
  tx: Tx,
  pipeline_id: number,
  { ids, user_id }: { ids: readonly number[]; user_id: number },
): Promise<number> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline === null || ids.length === 0) return 0;
  const started = await tx.db
    .updateTable('jobs')
    .set({ user_id, scheduled_at: null, updated_at: tx.now })
    .where('pipeline_id', '=', pipeline_id)
    .where(getDialect(tx.db).oneOf('id', ids))
    .where('status', 'in', playableStatuses)
    .returning('id')
    .execute();
  if (started.length === 0) return 0;
  await refreshProtectedFlag(tx, pipeline);
  await startAndReopen(tx, pipeline, { job_ids: started.map(({ id }) => id), user_id });
  return started.length;
};

/** Creates and starts a retry of an ended job. null if it has not ended or was retried already. */
export const retryJob = async (tx: Tx, job_id: number, user_id: number): Promise<Job | null> => {
  const locked = await lockJob(tx, job_id);
  if (locked === null || !isRetryable(locked.job)) return null;
  const [id = 0] = await replaceJobs(tx, [locked.job], user_id);
  await startAndReopen(tx, locked.pipeline, { job_ids: [id], user_id });
  return await requireJob(tx.db, id);
};
