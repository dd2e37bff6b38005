/** What a pipeline has started ends with it. */
import type { Reader, Store } from '../db/open.ts';
import { endedStatuses } from '../job_statuses.ts';
import { cancelPipeline } from './change.ts';
import type { Started } from './downstream_work.ts';

const startedBy = async (db: Reader, { pipeline_id, job_id, is_any }: Started): Promise<number[]> => {
  let query = db
    .selectFrom('pipelines')
    .select('id')
    .where('source_pipeline_id', '=', pipeline_id)
    .where('status', 'not in', endedStatuses);
  if (job_id !== null) query = query.where('source_job_id', '=', job_id);
  if (!is_any) query = query.where('source', '=', 'parent_pipeline');
  return (await query.orderBy('id').execute()).map(({ id }) => id);
};

/** Each in a transaction of its own, which sees to what it has started itself. Safe to be called twice. */
export const cancelStarted = async (store: Store, started: Started): Promise<void> => {
  for (const id of await startedBy(store.db, started)) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    await store.write(async (tx) => await cancelPipeline(tx, id));
  }
};
