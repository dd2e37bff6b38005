/** What follows between a pipeline and those that it starts: each a piece of work, so that nobody holds two locks. */
import type { Tx } from '../db/open.ts';
import { enqueue } from '../queue/queue.ts';

export const followWork = 'pipelines.follow_downstream';
export const cancelChildrenWork = 'pipelines.cancel_children';

/**
 * A job looks at the pipeline that it has started.
 * @param again who has something of that run again, which may have ended
 */
export const followLater = async (tx: Tx, job_id: number, again: number | null = null): Promise<void> => {
  const unique_key = `${followWork}:${job_id}${again === null ? '' : `:${again}`}`;
  await enqueue(tx, followWork, { job_id, again }, { unique_key });
};

/** Somebody has something of this pipeline run again. */
export const followAgainLater = async (
  tx: Tx,
  { source_job_id }: { source_job_id: number | null },
  user_id: number,
): Promise<void> => {
  if (source_job_id !== null) await followLater(tx, source_job_id, user_id);
};

export const mirrorWork = 'pipelines.follow_mirrored';

/** Jobs that go as this pipeline does look at it. What follows its end does that, too. */
export const mirrorLater = async (tx: Tx, pipeline_id: number): Promise<void> =>
  await enqueue(tx, mirrorWork, { pipeline_id }, { unique_key: `${mirrorWork}:${pipeline_id}` });

export type Started = {
  pipeline_id: number;
  /** null: by any of its jobs. */
  job_id: number | null;
  /** Also those of other projects. */
  is_any: boolean;
};

/** What a pipeline, or one job of it, has started is to be no more. */
export const cancelStartedLater = async (tx: Tx, started: Started): Promise<void> => {
  const unique_key = `${cancelChildrenWork}:${started.pipeline_id}:${started.job_id}:${started.is_any}`;
  await enqueue(tx, cancelChildrenWork, started, { unique_key });
};
