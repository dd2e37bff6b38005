/** Cancels, retries and deletes pipelines. */
import type { Tx } from '../../platform/db/open.ts';
import { enqueueWaitingMerges } from '../../projects/projects/enqueue_waiting_merges.ts';
import { advanceLockedPipeline } from './processing/advance_pipeline.ts';
import { cancelJobs } from './processing/cancel_jobs.ts';
import { enqueueCancelDownstream, enqueueReopenUpstream, enqueueFollow } from './downstream/work.ts';
import { type TraceRef, enqueueJobFileDeletion } from './enqueue_job_file_deletion.ts';
import { cancelExternalStatuses } from './statuses/external_stage.ts';
import { loadLatestJobs } from './processing/latest_jobs.ts';
import { setStatus } from './processing/set_job_statuses.ts';
import { replaceJobs } from './processing/replace_jobs.ts';
import { enqueueResourceAssignment } from './resource_groups/enqueue_assignment.ts';
import { type Pipeline, lockPipeline } from './pipeline_rows.ts';

/**
 * Cancels a pipeline and returns it; null if there is none. Running jobs finish later, child pipelines asynchronously.
 */
export const cancelPipeline = async (tx: Tx, pipeline_id: number): Promise<Pipeline | null> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline === null) return null;
  const jobs = await loadLatestJobs(tx.db, pipeline_id);
  await cancelJobs(tx, jobs);
  await cancelExternalStatuses(tx, pipeline_id);
  if (jobs.some(({ bridge }) => bridge === 1)) {
    await enqueueCancelDownstream(tx, { pipeline_id, job_id: null, is_any: false });
  }
  await advanceLockedPipeline(tx, pipeline, { jobs });
  return pipeline;
};

/** Retries failed and canceled jobs and resets skipped jobs. Returns the pipeline; null if there is none. */
export const retryPipeline = async (
  tx: Tx,
  pipeline_id: number,
  user_id: number,
): Promise<Pipeline | null> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline === null) return null;
  const failedJobs = await tx.db
    .selectFrom('jobs')
    .selectAll()
    .where('pipeline_id', '=', pipeline_id)
    .where('retried', '=', 0)
    .where('status', 'in', ['failed', 'canceled', 'canceling'])
    .orderBy('id')
    .execute();
  if (failedJobs.length === 0) return pipeline;
  await replaceJobs(tx, failedJobs, user_id);
  const jobs = await loadLatestJobs(tx.db, pipeline_id);
  await setStatus(
    tx,
    jobs.filter(({ status }) => status === 'skipped'),
    'created',
  );
  await advanceLockedPipeline(tx, pipeline, { jobs });
  await enqueueReopenUpstream(tx, pipeline, user_id);
  return pipeline;
};

const deleteUnusedConfigs = async (tx: Tx, ids: number[]): Promise<void> => {
  await tx.db
    .deleteFrom('job_configs')
    .where(tx.dialect.oneOf('id', ids))
    .where((by) =>
      by.not(by.exists(by.selectFrom('jobs').select('id').whereRef('jobs.config_id', '=', 'job_configs.id'))),
    )
    .execute();
};

/** Enqueues the deletion of the jobs' traces and artifacts. */
const enqueueFileDeletion = async (tx: Tx, project_id: number, jobs: readonly TraceRef[]): Promise<void> => {
  if (jobs.length === 0) return;
  const artifacts = await tx.db
    .selectFrom('artifacts')
    .select('sha256')
    .where(
      tx.dialect.oneOf(
        'job_id',
        jobs.map(({ id }) => id),
      ),
    )
    .execute();
  const digests = artifacts.map(({ sha256 }) => sha256);
  await enqueueJobFileDeletion(tx, { project_id, traces: jobs, digests });
};

/** Deletes a pipeline with all rows and files. Returns the ids of its jobs; null if it is gone. */
export const deletePipeline = async (
  tx: Tx,
  { id, project_id }: Pick<Pipeline, 'id' | 'project_id'>,
): Promise<number[] | null> => {
  // Pipeline creation takes this lock, too, so no new job can share a config that is deleted here.
  await tx.db
    .selectFrom('iid_sequences')
    .select('last')
    .where('project_id', '=', project_id)
    .where('kind', '=', 'pipeline')
    .modifyEnd(tx.dialect.forUpdate)
    .execute();
  const pipeline = await lockPipeline(tx, id);
  if (pipeline === null) return null;
  if (pipeline.source_job_id !== null) await enqueueFollow(tx, pipeline.source_job_id);
  const jobs = await tx.db
    .selectFrom('jobs')
    .select(['id', 'project_id', 'config_id', 'resource_group', 'trace_key'])
    .where('pipeline_id', '=', id)
    .execute();
  const ids = jobs.map((job) => job.id);
  await enqueueFileDeletion(tx, project_id, jobs);
  await tx.db.deleteFrom('pipelines').where('id', '=', id).execute();
  await enqueueWaitingMerges(tx, project_id);
  await deleteUnusedConfigs(tx, [...new Set(jobs.map(({ config_id }) => config_id))]);
  await enqueueResourceAssignment(tx, jobs);
  return ids;
};
