/**
 * Starts the downstream pipeline of a trigger job, or begins to mirror one. The new pipeline's row names the job, so
 * retries after a crash find it and create no second one.
 */
import type { Platform } from '../../../core/platform.ts';
import { isNotFound } from '../../../platform/errors.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type { ReadArtifactText } from '../config/ci_files.ts';
import { createPipeline } from '../creation/create_pipeline.ts';
import { getDownstreamLimitError, getRootId } from './limits.ts';
import { type Refusal, type Target, resolveTarget, creationFailed } from './resolve_target.ts';
import { loadBridgeValues, collectForwardedVariables } from './forwarded_variables.ts';
import { findDownstream, followDownstream } from './follow_downstream.ts';
import { findVariableProblems } from '../creation/pipeline_variables.ts';
import type { Upstream } from '../creation/insert_pipeline.ts';
import { changeJob, failJob } from '../processing/job_transitions.ts';
import { loadCreator } from '../creation/creation_rights.ts';
import { startMirror } from './start_mirror.ts';
import {
  type Job,
  type Pipeline,
  selectJobById,
  loadJobConfig,
  requireJob,
  selectPipelineById,
} from '../pipeline_rows.ts';

/** Reads artifacts of a pipeline's jobs. Passed in, because the artifacts folder comes after pipelines in import order. */
export type ArtifactTextReader = (platform: Platform, pipelineId: number) => ReadArtifactText;

/** Stored errors of a failed creation, shown to users who can read the target project. */
export type DownstreamErrors = { project_id: number; errors: string[] };

type StartRequest = {
  platform: Platform;
  job: Job;
  pipeline: Pipeline;
  readArtifactText: ArtifactTextReader;
};

/** Returns whether the pipeline already exists or the job no longer waits for it. */
const isSettled =
  ({ id }: Job) =>
  async (tx: Tx): Promise<boolean> => {
    const [job] = await selectJobById(tx.db, { id });
    return job?.status !== 'pending' || (await findDownstream(tx.db, id)) !== null;
  };

const toUpstream = (job: Job, pipeline: Pipeline, source: Target['source']): Upstream => ({
  source_pipeline_id: pipeline.id,
  source_job_id: job.id,
  root_id: getRootId(pipeline),
  depth: source === 'parent_pipeline' ? pipeline.depth + 1 : 0,
});

/** Creates the pipeline. Returns the reason why none was created; null if it exists or is no longer needed. */
const createDownstream = async ({
  platform,
  job,
  pipeline,
  readArtifactText,
}: StartRequest): Promise<Refusal | null> => {
  const config = await loadJobConfig(platform.store.db, job);
  const { trigger } = config;
  // Configs stored by old versions have no parsed `trigger`.
  if (trigger === null || trigger.forward === undefined) return { reason: creationFailed };
  const { user_id } = job;
  const creator = user_id === null ? null : await loadCreator(platform, user_id);
  if (user_id !== null && creator === null) return { reason: 'insufficient_bridge_permissions' };
  const values = await loadBridgeValues(platform, job);
  const readArtifact = readArtifactText(platform, pipeline.id);
  const target = await resolveTarget({ platform, pipeline, trigger, values, creator, readArtifact });
  if ('reason' in target) return target;
  const isChild = target.source === 'parent_pipeline';
  const limit = await getDownstreamLimitError(platform.store.db, pipeline, isChild);
  if (limit !== null) return { reason: limit };
  const variables = await collectForwardedVariables(platform, job, { config, trigger, values });
  const toRefusal = (errors: string[]): Refusal => ({
    reason: creationFailed,
    project_id: target.project.id,
    errors,
  });
  const problems = findVariableProblems(variables);
  if (problems.length > 0) return toRefusal(problems.map((text) => `Variables ${text}`));
  const created = await createPipeline(platform, {
    ...target,
    user_id,
    variables,
    upstream: toUpstream(job, pipeline, target.source),
    obeysSkipMessage: false,
    isObsolete: isSettled(job),
  });
  return 'refused' in created ? toRefusal([created.refused]) : null;
};

/** Reports a target project that is deleted meanwhile as missing. */
const createUnlessProjectGone = async (start: StartRequest): Promise<Refusal | null> => {
  try {
    return await createDownstream(start);
  } catch (error) {
    if (isNotFound(error)) {
      return { reason: 'downstream_bridge_project_not_found' };
    }
    throw error;
  }
};

const failBridge = async ({ platform, job }: StartRequest, refusal: Refusal): Promise<void> => {
  const { reason, project_id, errors } = refusal;
  await platform.store.write(async (tx) => {
    if (await isSettled(job)(tx)) return;
    await failJob(tx, job.id, reason);
    if (project_id === undefined || errors === undefined) return;
    const downstreamErrors: DownstreamErrors = { project_id, errors };
    await changeJob(tx, await requireJob(tx.db, job.id), {
      downstream_errors: JSON.stringify(downstreamErrors),
    });
  });
};

const startBridge = async (start: StartRequest): Promise<void> => {
  const { platform, job } = start;
  const { mirrors } = await loadJobConfig(platform.store.db, job);
  // Configs stored by old versions have no `mirrors`.
  if ((mirrors ?? null) !== null) return await startMirror(platform, job, mirrors ?? '');
  const refusal = await createUnlessProjectGone(start);
  if (refusal !== null) await failBridge(start, refusal);
};

/** Starts the downstream pipeline of a pending trigger job and updates the job from it. Idempotent. */
export const startDownstream = async (
  platform: Platform,
  job_id: number,
  readArtifactText: ArtifactTextReader,
): Promise<void> => {
  const { db } = platform.store;
  const [job] = await selectJobById(db, { id: job_id });
  if (job === undefined) return;
  const [pipeline] = await selectPipelineById(db, { id: job.pipeline_id });
  if (pipeline === undefined) return;
  const isNew = job.status === 'pending' && (await findDownstream(db, job_id)) === null;
  const start = { platform, job, pipeline, readArtifactText };
  if (isNew) await startBridge(start);
  await followDownstream(platform.store, job_id);
};
