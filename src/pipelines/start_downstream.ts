/**
 * A job starts another pipeline, or begins to go as one does. That it has started one is one row, which names the job: so it is made once, however often this
 * is tried, and whoever dies in between has it found by the next.
 */
import type { Platform } from '../access/call.ts';
import { Failure } from '../errors.ts';
import type { Tx } from '../db/open.ts';
import type { ReadLeft } from './ci_files.ts';
import { createPipeline } from './create.ts';
import { downstreamLimit, rootOf } from './downstream_limits.ts';
import { type Refusal, type Target, aim, creationFailed } from './downstream_target.ts';
import { bridgeValues, passedOn } from './downstream_variables.ts';
import { downstreamOf, followDownstream } from './follow_downstream.ts';
import { givenProblems } from './given_variables.ts';
import type { Upstream } from './insert.ts';
import { changeJob, dropJob } from './job_states.ts';
import { makerOf } from './rights.ts';
import { startMirror } from './start_mirror.ts';
import { type Job, type Pipeline, jobById, jobConfigOf, jobOf, pipelineById } from './store.ts';

/** What a job of a pipeline left: whoever does the work hands it, for artifacts stand behind pipelines. */
export type ReadLeftOf = (platform: Platform, pipelineId: number) => ReadLeft;

/** What is kept of it: for those who see the project. */
export type DownstreamErrors = { project_id: number; errors: string[] };

type Starting = { platform: Platform; job: Job; pipeline: Pipeline; readLeft: ReadLeftOf };

/** It was made meanwhile, or is not wanted any more. */
const isSettled =
  ({ id }: Job) =>
  async (tx: Tx): Promise<boolean> => {
    const [job] = await jobById(tx.db, { id });
    return job?.status !== 'pending' || (await downstreamOf(tx.db, id)) !== null;
  };

const upstreamOf = (job: Job, pipeline: Pipeline, source: Target['source']): Upstream => ({
  source_pipeline_id: pipeline.id,
  source_job_id: job.id,
  root_id: rootOf(pipeline),
  depth: source === 'parent_pipeline' ? pipeline.depth + 1 : 0,
});

/** Answers why there is none; null: there is one, or it is not wanted any more. */
const make = async ({ platform, job, pipeline, readLeft }: Starting): Promise<Refusal | null> => {
  const config = await jobConfigOf(platform.store.db, job);
  const { trigger } = config;
  // Of days in which what the file says was kept as it was written.
  if (trigger === null || trigger.forward === undefined) return { reason: creationFailed };
  const { user_id } = job;
  const maker = user_id === null ? null : await makerOf(platform, user_id);
  if (user_id !== null && maker === null) return { reason: 'insufficient_bridge_permissions' };
  const values = await bridgeValues(platform, job);
  const left = readLeft(platform, pipeline.id);
  const aimed = await aim({ platform, pipeline, trigger, values, maker, left });
  if ('reason' in aimed) return aimed;
  const isChild = aimed.source === 'parent_pipeline';
  const limit = await downstreamLimit(platform.store.db, pipeline, isChild);
  if (limit !== null) return { reason: limit };
  const variables = await passedOn(platform, job, { config, trigger, values });
  const refused = (errors: string[]): Refusal => ({
    reason: creationFailed,
    project_id: aimed.project.id,
    errors,
  });
  const problems = givenProblems(variables);
  if (problems.length > 0) return refused(problems.map((text) => `Variables ${text}`));
  const created = await createPipeline(platform, {
    ...aimed,
    user_id,
    variables,
    upstream: upstreamOf(job, pipeline, aimed.source),
    skippable: false,
    isMade: isSettled(job),
  });
  return 'refused' in created ? refused([created.refused]) : null;
};

/** A project that goes meanwhile is as one that is gone. */
const tryToMake = async (starting: Starting): Promise<Refusal | null> => {
  try {
    return await make(starting);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') {
      return { reason: 'downstream_bridge_project_not_found' };
    }
    throw error;
  }
};

const fail = async ({ platform, job }: Starting, refusal: Refusal): Promise<void> => {
  const { reason, project_id, errors } = refusal;
  await platform.store.write(async (tx) => {
    if (await isSettled(job)(tx)) return;
    await dropJob(tx, job.id, reason);
    if (project_id === undefined || errors === undefined) return;
    const told: DownstreamErrors = { project_id, errors };
    await changeJob(tx, await jobOf(tx.db, job.id), { downstream_errors: JSON.stringify(told) });
  });
};

const start = async (starting: Starting): Promise<void> => {
  const { platform, job } = starting;
  const { mirrors } = await jobConfigOf(platform.store.db, job);
  // Of days before there was such a thing, nothing is said of it.
  if ((mirrors ?? null) !== null) return await startMirror(platform, job, mirrors ?? '');
  const refusal = await tryToMake(starting);
  if (refusal !== null) await fail(starting, refusal);
};

/** Safe to be called twice. */
export const startDownstream = async (
  platform: Platform,
  job_id: number,
  readLeft: ReadLeftOf,
): Promise<void> => {
  const { db } = platform.store;
  const [job] = await jobById(db, { id: job_id });
  if (job === undefined) return;
  const [pipeline] = await pipelineById(db, { id: job.pipeline_id });
  if (pipeline === undefined) return;
  const isNew = job.status === 'pending' && (await downstreamOf(db, job_id)) === null;
  const starting = { platform, job, pipeline, readLeft };
  if (isNew) await start(starting);
  await followDownstream(platform.store, job_id);
};
