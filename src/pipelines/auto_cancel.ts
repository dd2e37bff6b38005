/** Older pipelines of a ref end when a newer one takes their place. */
import type { Reader, Store, Tx } from '../db/open.ts';
import { cancelableStatuses } from '../job_statuses.ts';
import { enqueue } from '../queue/queue.ts';
import { advanceLocked } from './advance.ts';
import { cancelJobs } from './cancel_jobs.ts';
import { type LatestJob, loadLatestJobs } from './latest_jobs.ts';
import { type Pipeline, lockPipeline } from './store.ts';

export const autoCancelWork = 'pipelines.auto_cancel';

type Newer = Pick<Pipeline, 'id' | 'project_id' | 'ref' | 'tag' | 'sha' | 'source'>;

/** Of a ref, at a time. */
const mostOlder = 100;

/** With the parts of them, which are of their commits. */
const olderOf = async (db: Reader, newer: Newer, limit: number): Promise<number[]> => {
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

/** Looks once whether there are any; what is scheduled takes nobody's place, nor does a part of another. */
export const autoCancelLater = async (tx: Tx, newer: Newer): Promise<void> => {
  if (newer.source === 'schedule' || newer.source === 'parent_pipeline') return;
  if ((await olderOf(tx.db, newer, 1)).length === 0) return;
  await enqueue(tx, autoCancelWork, { pipeline_id: newer.id });
};

/** Pure: which jobs of an older pipeline end, as it says of itself. */
const endedByNewer = <J extends Pick<LatestJob, 'status' | 'interruptible' | 'started_at'>>(
  { auto_cancel }: Pick<Pipeline, 'auto_cancel'>,
  jobs: readonly J[],
): J[] => {
  if (auto_cancel === 'none') return [];
  if (auto_cancel === 'interruptible') return jobs.filter((job) => job.interruptible === 1);
  const isCommitted = jobs.some((job) => job.interruptible === 0 && job.started_at !== null);
  return isCommitted ? [] : [...jobs];
};

const cancelOlder = async (tx: Tx, pipeline_id: number): Promise<void> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline === null || !cancelableStatuses.includes(pipeline.status)) return;
  const jobs = await loadLatestJobs(tx.db, pipeline_id);
  await cancelJobs(tx, endedByNewer(pipeline, jobs));
  await advanceLocked(tx, pipeline, { jobs });
};

/** Each in a transaction of its own. */
export const autoCancel = async (store: Store, pipeline_id: number): Promise<void> => {
  const newer = await store.db
    .selectFrom('pipelines')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .selectAll('pipelines')
    .where('pipelines.id', '=', pipeline_id)
    .where('projects.auto_cancel_pending_pipelines', '=', 'enabled')
    .executeTakeFirst();
  if (newer === undefined) return;
  for (const id of await olderOf(store.db, newer, mostOlder)) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    await store.write(async (tx) => await cancelOlder(tx, id));
  }
};
