import type { Platform } from '../../core/platform.ts';
import { followEndedPipeline } from '../../review/merge_requests/merging/scheduled/follow_ended_pipeline.ts';
import type { WorkHandler } from '../../platform/queue/enqueue.ts';
import { assignResource } from './resource_groups/assign_resource.ts';
import { cancelOlderPipelines, autoCancelWork } from './creation/auto_cancel.ts';
import { cancelDownstream } from './processing/cancel_downstream.ts';
import { isEnded } from '../../core/job_statuses.ts';
import { cancelChildrenWork, followWork, followMirroredWork } from './downstream/work.ts';
import { followDownstream, followMirrored } from './downstream/follow_downstream.ts';
import { downstreamWork } from './processing/pending_jobs.ts';
import { canReopenUpstream } from './processing/can_reopen_upstream.ts';
import { type ArtifactTextReader, startDownstream } from './downstream/start_downstream.ts';
import { endedWork } from './enqueue_pipeline_ended.ts';
import { delayedWork } from './processing/set_job_statuses.ts';
import { dropPipelineRef, ensurePipelineRef } from './creation/persistent_ref.ts';
import { assignWork } from './resource_groups/enqueue_assignment.ts';
import { startDelayed } from './processing/start_delayed.ts';

/** Runs the follow-up of a pipeline's end. Does nothing if the pipeline was restarted. */
const handlePipelineEnd = async (platform: Platform, id: number): Promise<void> => {
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
  // The end of a child pipeline is part of its parent's end.
  if (tag === 0 && source !== 'parent_pipeline')
    await followEndedPipeline(platform, { ...pipeline, ref, status });
  await dropPipelineRef(platform, pipeline);
  // A concurrent restart may have seen the ref before it was deleted here.
  const current = await store.db
    .selectFrom('pipelines')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirst();
  if (current !== undefined && !isEnded(current.status)) await ensurePipelineRef(platform, pipeline);
};

export const pipelineWork = (
  platform: Platform,
  readArtifactText: ArtifactTextReader,
): { [name: string]: WorkHandler } => ({
  [endedWork]: async ({ pipeline_id }) => await handlePipelineEnd(platform, Number(pipeline_id)),
  [delayedWork]: async ({ pipeline_id }) =>
    await platform.store.write(async (tx) => await startDelayed(tx, Number(pipeline_id))),
  [assignWork]: async ({ project_id, key }) =>
    await assignResource(platform.store, { project_id: Number(project_id), key: String(key) }),
  [downstreamWork]: async ({ job_id }) => await startDownstream(platform, Number(job_id), readArtifactText),
  [followWork]: async ({ job_id, again }) => {
    const [id, user] = [Number(job_id), typeof again === 'number' ? again : null];
    const isAllowed = user !== null && (await canReopenUpstream(platform, id, user));
    await followDownstream(platform.store, id, isAllowed ? user : null);
  },
  [followMirroredWork]: async ({ pipeline_id }) => await followMirrored(platform.store, Number(pipeline_id)),
  [cancelChildrenWork]: async ({ pipeline_id, job_id, is_any }) =>
    await cancelDownstream(platform.store, {
      pipeline_id: Number(pipeline_id),
      job_id: job_id === null ? null : Number(job_id),
      is_any: is_any === true,
    }),
  [autoCancelWork]: async ({ pipeline_id }) =>
    await cancelOlderPipelines(platform.store, Number(pipeline_id)),
});
