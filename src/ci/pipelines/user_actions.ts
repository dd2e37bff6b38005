/** User actions on pipelines: cancel, retry, rename, delete. */
import { type Call, requireActor, requireUser } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { finishBuildFailedTodos } from '../../review/merge_requests/finish_build_failed_todos.ts';
import type { PipelineRow } from '../../code/repository/statuses/pipeline_summary.ts';
import { cancelPipeline, deletePipeline, retryPipeline } from './cancel_retry_delete.ts';
import { type LoadedPipeline, pipelinesOfProject } from './find.ts';
import { dropPipelineRef } from './creation/persistent_ref.ts';
import { mayRunJobsOn } from './creation/creation_rights.ts';
import { requireVisibleRequest } from './creation/require_visible_merge_request.ts';
import type { Pipeline } from './pipeline_rows.ts';

/**
 * Requires permission to run or cancel jobs on the pipeline's branch or tag.
 * @throws Failure 403 if it is protected from the caller
 */
export const requireRunOnRef = async (call: Call, { pipeline, project }: LoadedPipeline): Promise<void> => {
  if (!(await mayRunJobsOn(call, project, pipeline))) throw forbidden();
};

type Change = (tx: Tx, id: number, userId: number) => Promise<Pipeline | null>;

/** @throws Failure 404 if the pipeline was deleted meanwhile */
const changePipeline = async (
  call: Call,
  { pipeline }: LoadedPipeline,
  apply: Change,
): Promise<PipelineRow> => {
  const user = requireUser(call);
  return await call.write(async (tx) => {
    if ((await apply(tx, pipeline.id, user.id)) === null) throw notFound();
    const changed = await pipelinesOfProject(tx.db, pipeline.project_id, pipeline.id);
    if (changed === null) throw notFound();
    return changed;
  });
};

export const cancel = async (call: Call, loaded: LoadedPipeline): Promise<PipelineRow> =>
  await changePipeline(call, loaded, cancelPipeline);

/** @throws Failure 403, 404 */
export const retry = async (call: Call, loaded: LoadedPipeline): Promise<PipelineRow> => {
  await requireVisibleRequest(call, loaded.pipeline.id);
  return await changePipeline(call, loaded, async (tx, id, userId) => {
    const pipeline = await retryPipeline(tx, id, userId);
    if (pipeline !== null) await finishBuildFailedTodos(tx, id);
    return pipeline;
  });
};

export const rename = async (call: Call, loaded: LoadedPipeline, name: string): Promise<PipelineRow> =>
  await call.write(async (tx) => {
    const row = await tx.db
      .updateTable('pipelines')
      .set({ name: name.trim() === '' ? null : name.trim(), updated_at: tx.now })
      .where('id', '=', loaded.pipeline.id)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw notFound();
    await recordEvent(tx, requireActor(call), {
      kind: 'pipeline.updated',
      project_id: row.project_id,
      target_type: 'Pipeline',
      target_id: row.id,
      data: { name: [loaded.pipeline.name, row.name] },
    });
    return row;
  });

/** Deletes a pipeline with its jobs and their files. */
export const remove = async (call: Call, { pipeline }: LoadedPipeline): Promise<void> => {
  const { id, project_id, ref, sha } = pipeline;
  await call.write(async (tx) => {
    if ((await deletePipeline(tx, pipeline)) === null) throw notFound();
    await recordEvent(tx, requireActor(call), {
      kind: 'pipeline.deleted',
      project_id,
      target_type: 'Pipeline',
      target_id: id,
      data: { ref, sha },
    });
  });
  await dropPipelineRef(call.platform, pipeline);
};
