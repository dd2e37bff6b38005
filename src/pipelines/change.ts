/** What is done to a whole pipeline. Each answers it as it then is; null: there is none. */
import type { Tx } from '../db/open.ts';
import { advanceLocked } from './advance.ts';
import { cancelJobs } from './cancel_jobs.ts';
import { cancelStartedLater, followAgainLater, followLater } from './downstream_work.ts';
import { dropLater } from './drop_files.ts';
import { cancelStatuses } from './external_statuses.ts';
import { loadLatestJobs } from './latest_jobs.ts';
import { setStatus } from './move_jobs.ts';
import { replaceJobs } from './replace_jobs.ts';
import { resourcesChanged } from './resource_groups.ts';
import { type Pipeline, lockPipeline } from './store.ts';

/** What runs ends when its runner has heard of it; the parts of it that are pipelines of their own, afterwards. */
export const cancelPipeline = async (tx: Tx, pipeline_id: number): Promise<Pipeline | null> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline === null) return null;
  const jobs = await loadLatestJobs(tx.db, pipeline_id);
  await cancelJobs(tx, jobs);
  await cancelStatuses(tx, pipeline_id);
  if (jobs.some(({ bridge }) => bridge === 1)) {
    await cancelStartedLater(tx, { pipeline_id, job_id: null, is_any: false });
  }
  await advanceLocked(tx, pipeline, { jobs });
  return pipeline;
};

/** New jobs for those that failed or were cancelled; what was skipped may run after all. */
export const retryPipeline = async (
  tx: Tx,
  pipeline_id: number,
  user_id: number,
): Promise<Pipeline | null> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline === null) return null;
  const unlucky = await tx.db
    .selectFrom('jobs')
    .selectAll()
    .where('pipeline_id', '=', pipeline_id)
    .where('retried', '=', 0)
    .where('status', 'in', ['failed', 'canceled', 'canceling'])
    .orderBy('id')
    .execute();
  if (unlucky.length === 0) return pipeline;
  await replaceJobs(tx, unlucky, user_id);
  const jobs = await loadLatestJobs(tx.db, pipeline_id);
  await setStatus(
    tx,
    jobs.filter(({ status }) => status === 'skipped'),
    'created',
  );
  await advanceLocked(tx, pipeline, { jobs });
  await followAgainLater(tx, pipeline, user_id);
  return pipeline;
};

const dropConfigs = async (tx: Tx, ids: number[]): Promise<void> => {
  await tx.db
    .deleteFrom('job_configs')
    .where(tx.words.oneOf('id', ids))
    .where((by) =>
      by.not(by.exists(by.selectFrom('jobs').select('id').whereRef('jobs.config_id', '=', 'job_configs.id'))),
    )
    .execute();
};

/** What the jobs of a pipeline printed and left behind goes with them. */
const dropFiles = async (tx: Tx, project_id: number, jobs: number[]): Promise<void> => {
  if (jobs.length === 0) return;
  const left = await tx.db
    .selectFrom('artifacts')
    .select('sha256')
    .where(tx.words.oneOf('job_id', jobs))
    .execute();
  const digests = left.map(({ sha256 }) => sha256);
  await dropLater(tx, { project_id, jobs, digests });
};

/** With all its rows and files. Answers the ids of its jobs; null: it is gone. */
export const deletePipeline = async (
  tx: Tx,
  { id, project_id }: Pick<Pipeline, 'id' | 'project_id'>,
): Promise<number[] | null> => {
  // The lock of those who make pipelines: nobody begins to share a config that goes.
  await tx.db
    .selectFrom('iid_sequences')
    .select('last')
    .where('project_id', '=', project_id)
    .where('kind', '=', 'pipeline')
    .modifyEnd(tx.words.forUpdate)
    .execute();
  const pipeline = await lockPipeline(tx, id);
  if (pipeline === null) return null;
  if (pipeline.source_job_id !== null) await followLater(tx, pipeline.source_job_id);
  const jobs = await tx.db
    .selectFrom('jobs')
    .select(['id', 'project_id', 'config_id', 'resource_group'])
    .where('pipeline_id', '=', id)
    .execute();
  const ids = jobs.map((job) => job.id);
  await dropFiles(tx, project_id, ids);
  await tx.db.deleteFrom('pipelines').where('id', '=', id).execute();
  await dropConfigs(tx, [...new Set(jobs.map(({ config_id }) => config_id))]);
  await resourcesChanged(tx, jobs);
  return ids;
};
