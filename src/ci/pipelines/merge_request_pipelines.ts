/** The pipelines of a merge request, which belong to its source project. */
import { type Call, requireUser } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { forbidden, invalid } from '../../platform/errors.ts';
import { type Project, loadProject } from '../../projects/projects/find.ts';
import type { LoadedMergeRequest } from '../../review/merge_requests/find.ts';
import { createMergeRequestPipeline } from './creation/follow_push.ts';
import type { LoadedPipeline } from './find.ts';
import { countMergeRequestPipelines } from './list.ts';

/** Finds the merge request's source project; null if it is gone or the caller cannot read its pipelines. */
export const findPipelineSource = async (
  call: Call,
  { merge_request, project }: LoadedMergeRequest,
): Promise<Project | null> => {
  const { source_project_id: id } = merge_request;
  if (id === null) return null;
  const source = id === project.id ? project : await loadProject(call.db, id);
  return source !== null && may(call.viewer, 'read_pipeline', source) ? source : null;
};

/** Counts the pipelines of a merge request; null if the caller cannot see them. */
export const countRequestPipelines = async (
  call: Call,
  loaded: LoadedMergeRequest,
): Promise<number | null> => {
  const source = await findPipelineSource(call, loaded);
  return source === null ? null : await countMergeRequestPipelines(call.db, source.id, loaded.merge_request);
};

/**
 * Creates a pipeline for the head of a merge request, for the caller.
 * @throws Failure 403 without permission, 400 with the reason why there is no pipeline
 */
export const runRequestPipeline = async (call: Call, loaded: LoadedMergeRequest): Promise<LoadedPipeline> => {
  const source = await findPipelineSource(call, loaded);
  if (source === null || !may(call.viewer, 'create_pipeline', source)) throw forbidden();
  const options = { user_id: requireUser(call).id, obeysSkipMessage: false, since: null };
  const created = await createMergeRequestPipeline(call.platform, loaded, options);
  if ('refused' in created) throw invalid({ base: [created.refused] });
  return { pipeline: created.pipeline, project: source };
};
