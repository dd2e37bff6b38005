/** Cancels the downstream pipelines of a canceled pipeline or job. */
import type { Reader, Store } from '../../../platform/db/open.ts';
import { endedStatuses } from '../../../core/job_statuses.ts';
import { cancelPipeline } from '../cancel_retry_delete.ts';
import type { CancelDownstreamPayload } from '../downstream/work.ts';

const findDownstreamIds = async (
  db: Reader,
  { pipeline_id, job_id, is_any }: CancelDownstreamPayload,
): Promise<number[]> => {
  let query = db
    .selectFrom('pipelines')
    .select('id')
    .where('source_pipeline_id', '=', pipeline_id)
    .where('status', 'not in', endedStatuses);
  if (job_id !== null) query = query.where('source_job_id', '=', job_id);
  if (!is_any) query = query.where('source', '=', 'parent_pipeline');
  return (await query.orderBy('id').execute()).map(({ id }) => id);
};

/** Cancels each pipeline in its own transaction, which enqueues its own downstream. Idempotent. */
export const cancelDownstream = async (store: Store, started: CancelDownstreamPayload): Promise<void> => {
  for (const id of await findDownstreamIds(store.db, started)) {
    await store.write(async (tx) => await cancelPipeline(tx, id));
  }
};
