/** Resolves the project, ref and configuration of a downstream pipeline. */
import type { Platform } from '../../../core/platform.ts';
import { type Values, expandVariables } from '../../ci_file/syntax/expand_variables.ts';
import type { Trigger } from '../../ci_file/config_types.ts';
import { isNotFound } from '../../../platform/errors.ts';
import { type Project, findProject, loadProject } from '../../../projects/projects/find.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import type { ReadArtifactText } from '../config/ci_files.ts';
import type { PipelineRequest } from '../creation/create_pipeline.ts';
import { toIncludeConfig, toConfigWithInputs } from '../creation/inputs.ts';
import { loadMergeRequestFacts } from '../creation/merge_request_facts.ts';
import { resolveNamedRef } from '../creation/named_ref.ts';
import { pipelineRef } from '../creation/pipeline_ref.ts';
import { type PipelineCreator, authorizePipeline } from '../creation/creation_rights.ts';
import type { Pipeline } from '../pipeline_rows.ts';

export type Target = Pick<
  PipelineRequest,
  'project' | 'ref' | 'sha' | 'before_sha' | 'source' | 'merge_request' | 'child'
>;

/** The job's failure reason, and errors to show to users who can read the target project. */
export type Refusal = { reason: string; project_id?: number; errors?: string[] };

export type TargetResult = Target | Refusal;

export type TargetRequest = {
  platform: Platform;
  pipeline: Pipeline;
  trigger: Trigger;
  values: Values;
  creator: PipelineCreator | null;
  readArtifact: ReadArtifactText;
};

export const creationFailed = 'downstream_pipeline_creation_failed';

/** Returns the target of a child pipeline: the same project, commit and merge request. */
const toChildTarget = async ({
  platform,
  pipeline,
  trigger,
  readArtifact,
}: TargetRequest): Promise<TargetResult> => {
  const { db } = platform.store;
  const project = await loadProject(db, pipeline.project_id);
  if (project === null) return { reason: 'downstream_bridge_project_not_found' };
  const { merge_request_id, sha, before_sha } = pipeline;
  const mergeRequest = merge_request_id === null ? null : await loadMergeRequestFacts(db, merge_request_id);
  return {
    project,
    ref: pipelineRef(pipeline, mergeRequest),
    sha,
    before_sha,
    source: 'parent_pipeline',
    child: { content: toIncludeConfig(trigger.include ?? []), readArtifact },
    ...(mergeRequest !== null && { merge_request: mergeRequest }),
  };
};

/** Finds a project by path; null if it is missing or hidden from the user. */
export const findVisibleProject = async (
  { store: { db } }: Platform,
  { viewer }: PipelineCreator,
  path: string,
): Promise<Project | null> => {
  try {
    return await findProject({ db, viewer }, path);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
};

const resolveOtherProject = async ({
  platform,
  trigger,
  values,
  creator,
}: TargetRequest): Promise<TargetResult> => {
  const path = expandVariables(trigger.project ?? '', values).replace(/^\//, '');
  const project = creator === null ? null : await findVisibleProject(platform, creator, path);
  if (project === null) return { reason: 'downstream_bridge_project_not_found' };
  const branch =
    trigger.branch === null ? (project.default_branch ?? '') : expandVariables(trigger.branch, values);
  const namedRef = await resolveNamedRef(getRepository(platform, project), branch);
  if (namedRef === null)
    return { reason: creationFailed, project_id: project.id, errors: ['Reference not found'] };
  return { project, ...namedRef, source: 'pipeline', ...toConfigWithInputs(project, trigger.inputs) };
};

/** Resolves the target and checks that the user can run pipelines there. */
export const resolveTarget = async (request: TargetRequest): Promise<TargetResult> => {
  const { platform, trigger, creator } = request;
  const target = trigger.include === null ? await resolveOtherProject(request) : await toChildTarget(request);
  if ('reason' in target) return target;
  const { refused } = await authorizePipeline(platform, target.project, target.ref, creator);
  return refused === null ? target : { reason: 'insufficient_bridge_permissions' };
};
