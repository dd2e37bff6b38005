/** Keeps the `protected` flag of pipelines and jobs current when users restart jobs. */
import type { Tx } from '../../../platform/db/open.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { pipelineRef } from '../creation/pipeline_ref.ts';
import { canUseProtected } from '../creation/creation_rights.ts';
import type { Pipeline } from '../pipeline_rows.ts';

/** Statuses of jobs that no runner can take yet. */
const idleStatuses: readonly JobStatus[] = ['created', 'manual', 'scheduled', 'skipped'];

const columns = ['id', 'project_id', 'ref', 'tag', 'source', 'protected', 'merge_request_id'] as const;

type PipelineToRefresh = Pick<Pipeline, (typeof columns)[number]>;

/**
 * Updates the flag of a locked pipeline and its idle jobs when a user retries or plays a job, because ref protection
 * may have changed since creation. Pending and running jobs keep theirs, and a delayed job that comes due refreshes
 * nothing.
 */
export const refreshProtectedFlag = async (tx: Tx, pipeline: PipelineToRefresh): Promise<0 | 1> => {
  const { id, project_id } = pipeline;
  const isProtected = toFlag(await canUseProtected(tx.db, project_id, pipelineRef(pipeline, null)));
  if (isProtected === pipeline.protected) return isProtected;
  await tx.db.updateTable('pipelines').set({ protected: isProtected }).where('id', '=', id).execute();
  await tx.db
    .updateTable('jobs')
    .set({ protected: isProtected })
    .where('pipeline_id', '=', id)
    .where('status', 'in', idleStatuses)
    .execute();
  return isProtected;
};

/** Like `refreshProtectedFlag`, by pipeline id. */
export const refreshProtectedFlagById = async (tx: Tx, pipeline_id: number): Promise<0 | 1> => {
  const pipeline = await tx.db
    .selectFrom('pipelines')
    .select(columns)
    .where('id', '=', pipeline_id)
    .executeTakeFirstOrThrow();
  return await refreshProtectedFlag(tx, pipeline);
};
