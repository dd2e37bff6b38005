import type { Platform } from '../access/call.ts';
import { pipelineEnded } from '../merge_requests/pipeline_ended.ts';
import type { WorkHandler } from '../queue/queue.ts';
import { assignResource } from './assign_resource.ts';
import { autoCancel, autoCancelWork } from './auto_cancel.ts';
import { cancelStarted } from './cancel_started.ts';
import { isEnded } from './composite.ts';
import { cancelChildrenWork, followWork, mirrorWork } from './downstream_work.ts';
import { followDownstream, followMirrored } from './follow_downstream.ts';
import { downstreamWork } from './queue.ts';
import { mayReopen } from './reopen_right.ts';
import { type ReadLeftOf, startDownstream } from './start_downstream.ts';
import { endedWork } from './ended.ts';
import { delayedWork } from './move_jobs.ts';
import { dropPipelineRef, ensurePipelineRef } from './persistent_ref.ts';
import { assignWork } from './resource_groups.ts';
import { startDelayed } from './start_delayed.ts';

/** Does nothing where it runs again since. */
const followEnd = async (platform: Platform, id: number): Promise<void> => {
  const { store } = platform;
  await followMirrored(store, id);
  const pipeline = await store.db
    .selectFrom('pipelines')
    .leftJoin('merge_requests', 'merge_requests.id', 'pipelines.merge_request_id')
    .select([
      'pipelines.id',
      'pipelines.project_id',
      'ref',
      'tag',
      'sha',
      'status',
      'source',
      'source_branch',
    ])
    .where('pipelines.id', '=', id)
    .executeTakeFirst();
  if (pipeline === undefined || !isEnded(pipeline.status)) return;
  const { tag, status, source } = pipeline;
  const ref = pipeline.source_branch ?? pipeline.ref;
  // Of a part, the end of the whole is what counts.
  if (tag === 0 && source !== 'parent_pipeline') await pipelineEnded(platform, { ...pipeline, ref, status });
  await dropPipelineRef(platform, pipeline);
  // Who started it again meanwhile may have found the ref still there.
  const now = await store.db.selectFrom('pipelines').select('status').where('id', '=', id).executeTakeFirst();
  if (now !== undefined && !isEnded(now.status)) await ensurePipelineRef(platform, pipeline);
};

export const pipelineWork = (platform: Platform, readLeft: ReadLeftOf): { [name: string]: WorkHandler } => ({
  [endedWork]: async ({ pipeline_id }) => await followEnd(platform, Number(pipeline_id)),
  [delayedWork]: async ({ pipeline_id }) =>
    await platform.store.write(async (tx) => await startDelayed(tx, Number(pipeline_id))),
  [assignWork]: async ({ project_id, key }) =>
    await assignResource(platform.store, { project_id: Number(project_id), key: String(key) }),
  [downstreamWork]: async ({ job_id }) => await startDownstream(platform, Number(job_id), readLeft),
  [followWork]: async ({ job_id, again }) => {
    const [id, user] = [Number(job_id), typeof again === 'number' ? again : null];
    const isAllowed = user !== null && (await mayReopen(platform, id, user));
    await followDownstream(platform.store, id, isAllowed ? user : null);
  },
  [mirrorWork]: async ({ pipeline_id }) => await followMirrored(platform.store, Number(pipeline_id)),
  [cancelChildrenWork]: async ({ pipeline_id, job_id, is_any }) =>
    await cancelStarted(platform.store, {
      pipeline_id: Number(pipeline_id),
      job_id: job_id === null ? null : Number(job_id),
      is_any: is_any === true,
    }),
  [autoCancelWork]: async ({ pipeline_id }) => await autoCancel(platform.store, Number(pipeline_id)),
});
