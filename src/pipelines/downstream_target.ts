/** Where the pipeline runs that a job starts, and what it is made of. */
import type { Platform } from '../access/call.ts';
import { type Values, expand } from '../ci_file/expand.ts';
import type { Trigger } from '../ci_file/plan_types.ts';
import { Failure } from '../errors.ts';
import { type Project, findProject, loadProject } from '../projects/find.ts';
import { repositoryOf } from '../repository/open.ts';
import type { ReadLeft } from './ci_files.ts';
import type { WantedPipeline } from './create.ts';
import { including, withInputs } from './given_inputs.ts';
import { factsOfRequest } from './merge_request_facts.ts';
import { namedRef } from './named_ref.ts';
import { pipelineRef } from './pipeline_ref.ts';
import { type Maker, admission } from './rights.ts';
import type { Pipeline } from './store.ts';

export type Target = Pick<
  WantedPipeline,
  'project' | 'ref' | 'sha' | 'before_sha' | 'source' | 'merge_request' | 'part'
>;

/** Why there is no pipeline, in the words of the job's failure; and what is said of it where it is to be. */
export type Refusal = { reason: string; project_id?: number; errors?: string[] };

export type Aimed = Target | Refusal;

export type Aiming = {
  platform: Platform;
  pipeline: Pipeline;
  trigger: Trigger;
  values: Values;
  maker: Maker | null;
  left: ReadLeft;
};

export const creationFailed = 'downstream_pipeline_creation_failed';

/** A part of the pipeline: of its own project, commit and merge request. */
const childOf = async ({ platform, pipeline, trigger, left }: Aiming): Promise<Aimed> => {
  const { db } = platform.store;
  const project = await loadProject(db, pipeline.project_id);
  if (project === null) return { reason: 'downstream_bridge_project_not_found' };
  const { merge_request_id, sha, before_sha } = pipeline;
  const request = merge_request_id === null ? null : await factsOfRequest(db, merge_request_id);
  return {
    project,
    ref: pipelineRef(pipeline, request),
    sha,
    before_sha,
    source: 'parent_pipeline',
    part: { content: including(trigger.include ?? []), left },
    ...(request !== null && { merge_request: request }),
  };
};

/** null: hidden from him, or missing. */
export const projectSeenBy = async (
  { store: { db } }: Platform,
  { viewer }: Maker,
  path: string,
): Promise<Project | null> => {
  try {
    return await findProject({ db, viewer }, path);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') return null;
    throw error;
  }
};

const otherOf = async ({ platform, trigger, values, maker }: Aiming): Promise<Aimed> => {
  const path = expand(trigger.project ?? '', values).replace(/^\//, '');
  const project = maker === null ? null : await projectSeenBy(platform, maker, path);
  if (project === null) return { reason: 'downstream_bridge_project_not_found' };
  const branch = trigger.branch === null ? (project.default_branch ?? '') : expand(trigger.branch, values);
  const named = await namedRef(repositoryOf(platform, project), branch);
  if (named === null)
    return { reason: creationFailed, project_id: project.id, errors: ['Reference not found'] };
  return { project, ...named, source: 'pipeline', ...withInputs(project, trigger.inputs) };
};

/** Who may see the project, yet run nothing there, is told so. */
export const aim = async (aiming: Aiming): Promise<Aimed> => {
  const { platform, trigger, maker } = aiming;
  const aimed = trigger.include === null ? await otherOf(aiming) : await childOf(aiming);
  if ('reason' in aimed) return aimed;
  const { refused } = await admission(platform, aimed.project, aimed.ref, maker);
  return refused === null ? aimed : { reason: 'insufficient_bridge_permissions' };
};
