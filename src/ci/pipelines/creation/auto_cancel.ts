/** Cancels older pipelines of a ref when a newer commit gets a pipeline. */
import type { Reader, Store, Tx } from '../../../platform/db/open.ts';
import { cancelableStatuses } from '../../../core/job_statuses.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import { advanceLockedPipeline } from '../processing/advance_pipeline.ts';
import { cancelJobs } from '../processing/cancel_jobs.ts';
import { type LatestJob, loadLatestJobs } from '../processing/latest_jobs.ts';
import { type Pipeline, lockPipeline } from '../pipeline_rows.ts';

export const autoCancelWork = 'pipelines.auto_cancel';

type NewerPipeline = Pick<Pipeline, 'id' | 'project_id' | 'ref' | 'tag' | 'sha' | 'source'>;

/** Older pipelines canceled for one new pipeline. */
const maxOlderPipelines = 100;

/** Finds older unfinished pipelines of the same ref and other commits, their child pipelines included. */
const findOlderPipelineIds = async (db: Reader, newer: NewerPipeline, limit: number): Promise<number[]> => {
  const rows = await db
    .selectFrom('pipelines')
    .select('id')
    .where('project_id', '=', newer.project_id)
    .where('ref', '=', newer.ref)
    .where('status', 'in', cancelableStatuses)
    .where('tag', '=', newer.tag)
    .where('id', '<', newer.id)
    .where('sha', '!=', newer.sha)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
};

/** Enqueues the cancellation if there are older pipelines. Scheduled and child pipelines replace no others. */
export const enqueueAutoCancel = async (tx: Tx, newer: NewerPipeline): Promise<void> => {
  if (newer.source === 'schedule' || newer.source === 'parent_pipeline') return;
  if ((await findOlderPipelineIds(tx.db, newer, 1)).length === 0) return;
  await enqueue(tx, autoCancelWork, { pipeline_id: newer.id });
};

/** Selects the jobs to cancel by the pipeline's own `auto_cancel` setting. Pure. */
const selectJobsToCancel = <J extends Pick<LatestJob, 'status' | 'interruptible' | 'started_at'>>(
  { auto_cancel }: Pick<Pipeline, 'auto_cancel'>,
  jobs: readonly J[],
): J[] => {
  if (auto_cancel === 'none') return [];
  if (auto_cancel === 'interruptible') return jobs.filter((job) => job.interruptible === 1);
  const isCommitted = jobs.some((job) => job.interruptible === 0 && job.started_at !== null);
  return isCommitted ? [] : [...jobs];
};

const cancelOlderPipeline = async (tx: Tx, pipeline_id: number): Promise<void> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline === null || !cancelableStatuses.includes(pipeline.status)) return;
  const jobs = await loadLatestJobs(tx.db, pipeline_id);
  await cancelJobs(tx, selectJobsToCancel(pipeline, jobs));
  await advanceLockedPipeline(tx, pipeline, { jobs });
};

/** Cancels the older pipelines, each in its own transaction, if the project's setting allows it. */
export const cancelOlderPipelines = async (store: Store, pipeline_id: number): Promise<void> => {
  const newer = await store.db
    .selectFrom('pipelines')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .selectAll('pipelines')
    .where('pipelines.id', '=', pipeline_id)
    .where('projects.auto_cancel_pending_pipelines', '=', 'enabled')
    .executeTakeFirst();
  if (newer === undefined) return;
  for (const id of await findOlderPipelineIds(store.db, newer, maxOlderPipelines)) {
    await store.write(async (tx) => await cancelOlderPipeline(tx, id));
  }
};
