import type { Tx } from '../../platform/db/open.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';

export const endedWork = 'pipelines.ended';

/** Enqueues the work that follows the end of a pipeline. */
export const enqueuePipelineEnded = async (tx: Tx, pipeline_id: number): Promise<void> =>
  await enqueue(tx, endedWork, { pipeline_id }, { unique_key: `${endedWork}:${pipeline_id}` });
