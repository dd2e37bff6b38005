/** What people do to a whole pipeline. */
import { type Call, actorOf, userOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { forbidden, notFound } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { failureRetried } from '../merge_requests/failure_retried.ts';
import type { PipelineRow } from '../repository/pipeline_brief.ts';
import { cancelPipeline, deletePipeline, retryPipeline } from './change.ts';
import { type FoundPipeline, pipelineOf } from './find.ts';
import { dropPipelineRef } from './persistent_ref.ts';
import { mayRunOn } from './rights.ts';
import { requireSeenRequest } from './seen_request.ts';
import type { Pipeline } from './store.ts';

/**
 * Who may not write to a protected branch or tag may not have its jobs run, nor ended.
 * @throws Failure 403
 */
export const requireRefRight = async (call: Call, { pipeline, project }: FoundPipeline): Promise<void> => {
  if (!(await mayRunOn(call, project, pipeline))) throw forbidden();
};

type Change = (tx: Tx, id: number, userId: number) => Promise<Pipeline | null>;

/** @throws Failure 404 for one that is gone meanwhile */
const change = async (call: Call, { pipeline }: FoundPipeline, make: Change): Promise<PipelineRow> => {
  const user = userOf(call);
  return await call.write(async (tx) => {
    if ((await make(tx, pipeline.id, user.id)) === null) throw notFound();
    const now = await pipelineOf(tx.db, pipeline.project_id, pipeline.id);
    if (now === null) throw notFound();
    return now;
  });
};

export const cancel = async (call: Call, found: FoundPipeline): Promise<PipelineRow> =>
  await change(call, found, cancelPipeline);

/** @throws Failure 403, 404 */
export const retry = async (call: Call, found: FoundPipeline): Promise<PipelineRow> => {
  await requireSeenRequest(call, found.pipeline.id);
  return await change(call, found, async (tx, id, userId) => {
    const pipeline = await retryPipeline(tx, id, userId);
    if (pipeline !== null) await failureRetried(tx, id);
    return pipeline;
  });
};

export const rename = async (call: Call, found: FoundPipeline, name: string): Promise<PipelineRow> =>
  await call.write(async (tx) => {
    const row = await tx.db
      .updateTable('pipelines')
      .set({ name: name.trim() === '' ? null : name.trim(), updated_at: tx.now })
      .where('id', '=', found.pipeline.id)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw notFound();
    return row;
  });

/** With all that its jobs left. */
export const remove = async (call: Call, { pipeline }: FoundPipeline): Promise<void> => {
  const { id, project_id, ref, sha } = pipeline;
  await call.write(async (tx) => {
    if ((await deletePipeline(tx, pipeline)) === null) throw notFound();
    await recordEvent(tx, actorOf(call), {
      kind: 'pipeline.deleted',
      project_id,
      target_type: 'Pipeline',
      target_id: id,
      data: { ref, sha },
    });
  });
  await dropPipelineRef(call.platform, pipeline);
};
