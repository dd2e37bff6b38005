/** Enqueues work between upstream and downstream pipelines, so that no transaction locks two pipelines. */
import type { Tx } from '../../../platform/db/open.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';

export const followWork = 'pipelines.follow_downstream';
export const cancelChildrenWork = 'pipelines.cancel_children';

/**
 * Enqueues the update of a trigger job from its pipeline.
 * @param reopenedBy id of the user who restarted jobs of that pipeline
 */
export const enqueueFollow = async (
  tx: Tx,
  job_id: number,
  reopenedBy: number | null = null,
): Promise<void> => {
  const unique_key = `${followWork}:${job_id}${reopenedBy === null ? '' : `:${reopenedBy}`}`;
  await enqueue(tx, followWork, { job_id, again: reopenedBy }, { unique_key });
};

/** Enqueues the reopening of the upstream job after a user restarted jobs of this pipeline. */
export const enqueueReopenUpstream = async (
  tx: Tx,
  { source_job_id }: { source_job_id: number | null },
  user_id: number,
): Promise<void> => {
  if (source_job_id !== null) await enqueueFollow(tx, source_job_id, user_id);
};

export const followMirroredWork = 'pipelines.follow_mirrored';

/** Enqueues the update of jobs that mirror this pipeline. The work at its end does that, too. */
export const enqueueFollowMirrored = async (tx: Tx, pipeline_id: number): Promise<void> =>
  await enqueue(
    tx,
    followMirroredWork,
    { pipeline_id },
    { unique_key: `${followMirroredWork}:${pipeline_id}` },
  );

export type CancelDownstreamPayload = {
  pipeline_id: number;
  /** null: started by any job of the pipeline. */
  job_id: number | null;
  /** Also pipelines of other projects. */
  is_any: boolean;
};

/** Enqueues the cancellation of pipelines started by a pipeline or one of its jobs. */
export const enqueueCancelDownstream = async (tx: Tx, payload: CancelDownstreamPayload): Promise<void> => {
  const unique_key = `${cancelChildrenWork}:${payload.pipeline_id}:${payload.job_id}:${payload.is_any}`;
  await enqueue(tx, cancelChildrenWork, payload, { unique_key });
};
