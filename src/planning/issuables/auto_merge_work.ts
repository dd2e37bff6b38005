/** The background work that merges a request whose automatic merge waits, once nothing is in its way. */
import type { Tx } from '../../platform/db/open.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';

/** Kind of the work; its payload is `{ request_id }`. */
export const autoMergeWork = 'merge_requests.auto_merge';

/**
 * Enqueues the check of a waiting merge, in the transaction of a change that may have ended the wait. The transaction
 * must hold the lock of the request's row: then it sees a wait that began before, and one that begins later sees the
 * change.
 */
export const enqueueAutoMerge = async (tx: Tx, mergeRequestId: number): Promise<void> => {
  const waiting = await tx.db
    .selectFrom('merge_requests')
    .select('id')
    .where('id', '=', mergeRequestId)
    .where('merge_when_pipeline_succeeds', '=', 1)
    .executeTakeFirst();
  if (waiting === undefined) return;
  const unique_key = `${autoMergeWork}:${mergeRequestId}`;
  await enqueue(tx, autoMergeWork, { request_id: mergeRequestId }, { unique_key });
};
