/** Whether the jobs of a pipeline get what is protected: as its ref is whenever somebody has them run. */
import type { Tx } from '../db/open.ts';
import type { JobStatus } from '../db/schema_ci.ts';
import { pipelineRef } from './pipeline_ref.ts';
import { getsProtected } from './rights.ts';
import type { Pipeline } from './store.ts';

/** Those that nobody has started yet, or that may start after all. */
const resting: readonly JobStatus[] = ['created', 'manual', 'scheduled', 'skipped'];

const columns = ['id', 'project_id', 'ref', 'tag', 'source', 'protected', 'merge_request_id'] as const;

type Asked = Pick<Pipeline, (typeof columns)[number]>;

/**
 * Of a locked pipeline whose jobs are run again, or played: who may do that now may be others than when it was made.
 * Jobs that wait for a runner stay as they were started, and so does a delayed one whose time comes: nobody runs that.
 */
export const protectAnew = async (tx: Tx, pipeline: Asked): Promise<0 | 1> => {
  const { id, project_id } = pipeline;
  const isNow = (await getsProtected(tx.db, project_id, pipelineRef(pipeline, null))) ? 1 : 0;
  if (isNow === pipeline.protected) return isNow;
  await tx.db.updateTable('pipelines').set({ protected: isNow }).where('id', '=', id).execute();
  await tx.db
    .updateTable('jobs')
    .set({ protected: isNow })
    .where('pipeline_id', '=', id)
    .where('status', 'in', resting)
    .execute();
  return isNow;
};

/** The same, by its id. */
export const protectAnewOf = async (tx: Tx, pipeline_id: number): Promise<0 | 1> => {
  const pipeline = await tx.db
    .selectFrom('pipelines')
    .select(columns)
    .where('id', '=', pipeline_id)
    .executeTakeFirstOrThrow();
  return await protectAnew(tx, pipeline);
};
