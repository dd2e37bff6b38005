/** A new pipeline's rows, in few statements however many its jobs. */
import { createHash } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { PlannedJob } from '../ci_file/plan.ts';
import { compiled } from '../db/compiled.ts';
import { insertRow } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import type { JobStatus, JobsTable, PipelineVariablesTable, PipelinesTable } from '../db/schema_ci.ts';
import { takeIid } from '../projects/take_iid.ts';
import { autoCancelLater } from './auto_cancel.ts';
import { endLater } from './ended.ts';
import { insertMany } from './insert_many.ts';
import type { JobConfig } from './store.ts';

/** What another pipeline has to do with one that it starts. */
export type Upstream = {
  source_pipeline_id: number;
  source_job_id: number;
  root_id: number;
  depth: number;
};

export type NewPipeline = {
  pipeline: Pick<
    PipelinesTable,
    'project_id' | 'ref' | 'tag' | 'sha' | 'before_sha' | 'source' | 'protected' | 'user_id'
  > &
    Partial<
      Pick<PipelinesTable, 'merge_request_id' | 'name' | 'yaml_errors' | 'failure_reason' | 'schedule_id'> &
        Upstream & {
          auto_cancel: 'conservative' | 'interruptible' | 'none';
          /** Of one without jobs: it begins and ends so. */
          status: 'created' | 'skipped' | 'failed';
        }
    >;
  jobs: readonly PlannedJob[];
  variables?: readonly Omit<Insertable<PipelineVariablesTable>, 'pipeline_id'>[];
  /** Seconds; of jobs that say none of their own. */
  timeout: number;
  /** `workflow: auto_cancel: on_job_failure: all`. */
  cancel_on_failure?: boolean;
};

const configsByDigest = compiled((db, given: { project_id: number; digests: string[] }, words) =>
  db
    .selectFrom('job_configs')
    .select(['id', 'digest'])
    .where('project_id', '=', given.project_id)
    .where(words.oneOf('digest', given.digests))
    .compile(),
);

const digestOf = (config: string): string => createHash('sha256').update(config).digest('hex');

const configText = ({ place: _place, ...job }: PlannedJob, given: NewPipeline): string => {
  const config: JobConfig = given.cancel_on_failure === true ? { ...job, cancel_on_failure: true } : job;
  return JSON.stringify(config);
};

/** The config's id of each job, in their order. */
const storeConfigs = async (tx: Tx, given: NewPipeline): Promise<number[]> => {
  const { project_id } = given.pipeline;
  const texts = given.jobs.map((job) => configText(job, given));
  const digests = texts.map(digestOf);
  const byDigest = new Map(digests.map((digest, index) => [digest, texts[index] ?? '']));
  const asked = { project_id, digests: [...byDigest.keys()] };
  const stored = async () =>
    new Map((await configsByDigest(tx.db, asked)).map(({ id, digest }) => [digest, id]));
  let ids = await stored();
  if (ids.size < byDigest.size) {
    const missing = [...byDigest].filter(([digest]) => !ids.has(digest));
    const rows = missing.map(([digest, config]) => ({ project_id, digest, config }));
    await insertMany(tx, 'job_configs', rows, 'on conflict do nothing');
    ids = await stored();
  }
  return digests.map((digest) => {
    const id = ids.get(digest);
    if (id === undefined) throw new Error('a job config was not stored');
    return id;
  });
};

const storeStages = async (tx: Tx, pipeline_id: number, jobs: readonly PlannedJob[]) => {
  const names = new Map(jobs.map((job) => [job.stage_position, job.stage]));
  const status: JobStatus = 'created';
  await insertMany(
    tx,
    'stages',
    [...names].map(([position, name]) => ({ pipeline_id, name, position, status })),
  );
  const rows = await tx.db
    .selectFrom('stages')
    .select(['id', 'position'])
    .where('pipeline_id', '=', pipeline_id)
    .execute();
  return new Map(rows.map(({ id, position }) => [position, id]));
};

const flag = (value: boolean | null): 0 | 1 => (value === true ? 1 : 0);

/** Nothing for runners. */
const isBridge = ({ trigger, mirrors }: PlannedJob): boolean => trigger !== null || mirrors !== null;

type Places = { pipeline_id: number; stage_id: number; config_id: number };

const jobRow = (tx: Tx, given: NewPipeline, job: PlannedJob, places: Places): Insertable<JobsTable> => {
  const { project_id, ref, tag, protected: isProtected, user_id } = given.pipeline;
  return {
    ...places,
    project_id,
    ref,
    tag,
    protected: isProtected,
    user_id,
    status: 'created',
    stage: job.stage,
    stage_position: job.stage_position,
    name: job.name,
    run_when: job.when,
    allow_failure: flag(job.allow_failure),
    by_needs: flag(job.needs !== null),
    interruptible: flag(job.interruptible),
    bridge: flag(isBridge(job)),
    tag_list: JSON.stringify([...new Set(job.tags)].toSorted()),
    environment: job.environment?.name ?? null,
    resource_group: job.resource_group,
    timeout: isBridge(job) ? null : (job.timeout ?? given.timeout),
    created_at: tx.now,
    updated_at: tx.now,
  };
};

const storeNeeds = async (tx: Tx, pipeline_id: number, jobs: readonly PlannedJob[]): Promise<void> => {
  if (!jobs.some((job) => job.needs !== null && job.needs.length > 0)) return;
  const rows = await tx.db
    .selectFrom('jobs')
    .select(['id', 'name'])
    .where('pipeline_id', '=', pipeline_id)
    .execute();
  const ids = new Map(rows.map(({ id, name }) => [name, id]));
  const needs = jobs.flatMap((job) =>
    (job.needs ?? []).map(({ job: name, artifacts, optional }) => ({
      job_id: ids.get(job.name) ?? 0,
      name,
      artifacts: flag(artifacts),
      optional: flag(optional),
    })),
  );
  await insertMany(tx, 'job_needs', needs, 'on conflict do nothing');
};

const storeResourceGroups = async (tx: Tx, project_id: number, jobs: readonly PlannedJob[]) => {
  const keys = [...new Set(jobs.flatMap((job) => job.resource_group ?? []))].toSorted();
  const times = { created_at: tx.now, updated_at: tx.now };
  const rows = keys.map((key) => ({ project_id, key, job_id: null, ...times }));
  await insertMany(tx, 'resource_groups', rows, 'on conflict do nothing');
};

const storeJobs = async (tx: Tx, given: NewPipeline, pipeline_id: number): Promise<void> => {
  const configs = await storeConfigs(tx, given);
  const stages = await storeStages(tx, pipeline_id, given.jobs);
  const rows = given.jobs.map((job, index) =>
    jobRow(tx, given, job, {
      pipeline_id,
      stage_id: stages.get(job.stage_position) ?? 0,
      config_id: configs[index] ?? 0,
    }),
  );
  await insertMany(tx, 'jobs', rows);
  await storeNeeds(tx, pipeline_id, given.jobs);
  await storeResourceGroups(tx, given.pipeline.project_id, given.jobs);
};

/**
 * Answers the new pipeline's id. Its jobs are `created`: `advance` starts them. Older pipelines of its ref are
 * cancelled afterwards, where the project and they say so.
 */
export const insertPipeline = async (tx: Tx, given: NewPipeline): Promise<number> => {
  const { pipeline, jobs, variables = [] } = given;
  const status = pipeline.status ?? 'created';
  const ended_at = status === 'created' ? null : tx.now;
  const pipeline_id = await insertRow(tx.db, 'pipelines', {
    auto_cancel: 'conservative',
    merge_request_id: null,
    name: null,
    yaml_errors: null,
    failure_reason: null,
    ...pipeline,
    // Also the lock under which the project's configs are shared and removed.
    iid: await takeIid(tx, pipeline.project_id, 'pipeline'),
    status,
    created_at: tx.now,
    updated_at: tx.now,
    started_at: null,
    finished_at: ended_at,
    duration: null,
  });
  const told = variables.map(({ key, sealed_value, variable_type, raw }) => ({
    pipeline_id,
    key,
    sealed_value,
    variable_type: variable_type ?? 'env_var',
    raw: raw ?? 0,
  }));
  await insertMany(tx, 'pipeline_variables', told);
  if (jobs.length > 0) {
    await storeJobs(tx, given, pipeline_id);
    await autoCancelLater(tx, { ...pipeline, id: pipeline_id });
  }
  if (status !== 'created') await endLater(tx, pipeline_id);
  return pipeline_id;
};
