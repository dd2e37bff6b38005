import type { Platform } from '../access/call.ts';
import { pipelineEnded } from '../merge_requests/pipeline_ended.ts';
import type { WorkHandler } from '../queue/queue.ts';
import { assignResource } from './assign_resource.ts';
import { autoCancel, autoCancelWork } from './auto_cancel.ts';
import { isEnded } from './composite.ts';
import { endedWork } from './ended.ts';
import { delayedWork } from './move_jobs.ts';
import { dropPipelineRef } from './persistent_ref.ts';
import { assignWork } from './resource_groups.ts';
import { startDelayed } from './start_delayed.ts';

/** Does nothing where it runs again since. */
const followEnd = async (platform: Platform, id: number): Promise<void> => {
  const pipeline = await platform.store.db
    .selectFrom('pipelines')
    .leftJoin('merge_requests', 'merge_requests.id', 'pipelines.merge_request_id')
    .select(['pipelines.id', 'pipelines.project_id', 'ref', 'tag', 'sha', 'status', 'source_branch'])
    .where('pipelines.id', '=', id)
    .executeTakeFirst();
  if (pipeline === undefined || !isEnded(pipeline.status)) return;
  const { tag, status } = pipeline;
  const ref = pipeline.source_branch ?? pipeline.ref;
  if (tag === 0) await pipelineEnded(platform, { ...pipeline, ref, status });
  await dropPipelineRef(platform, pipeline);
};

export const pipelineWork = (platform: Platform): { [name: string]: WorkHandler } => ({
  [endedWork]: async ({ pipeline_id }) => await followEnd(platform, Number(pipeline_id)),
  [delayedWork]: async ({ pipeline_id }) =>
    await platform.store.write(async (tx) => await startDelayed(tx, Number(pipeline_id))),
  [assignWork]: async ({ project_id, key }) =>
    await assignResource(platform.store, { project_id: Number(project_id), key: String(key) }),
  [autoCancelWork]: async ({ pipeline_id }) => await autoCancel(platform.store, Number(pipeline_id)),
});
