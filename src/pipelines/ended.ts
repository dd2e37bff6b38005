import type { Tx } from '../db/open.ts';
import { enqueue } from '../queue/queue.ts';

export const endedWork = 'pipelines.ended';

/** What follows the end of a pipeline is done afterwards. */
export const endLater = async (tx: Tx, pipeline_id: number): Promise<void> =>
  await enqueue(tx, endedWork, { pipeline_id }, { unique_key: `${endedWork}:${pipeline_id}` });
