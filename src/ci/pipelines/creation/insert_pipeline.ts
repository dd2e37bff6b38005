/** Inserts the rows of a new pipeline in a constant number of statements. */
import { collectPipeline } from '../../../core/events/collect_statuses.ts';
import { hash } from 'node:crypto';
import type { Insertable } from 'kysely';
import { generateTraceKey } from '../../../platform/blob/trace_path.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import type { PlannedJob } from '../../ci_file/plan.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import { insertRow } from '../../../platform/db/insert.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type {
  JobStatus,
  JobsTable,
  PipelineVariablesTable,
  PipelinesTable,
} from '../../../platform/db/schema/ci.ts';
import { takeIid } from '../../../projects/projects/take_iid.ts';
import { enqueueAutoCancel } from './auto_cancel.ts';
import { enqueuePipelineEnded } from '../enqueue_pipeline_ended.ts';
import { insertMany } from '../../../platform/db/insert_many.ts';
import type { JobConfig } from '../pipeline_rows.ts';

/** Columns that link a downstream pipeline to the pipeline that starts it. */
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
          /** `skipped` and `failed` are for pipelines without jobs, which end immediately. */
          status: 'created' | 'skipped' | 'failed';
        }
    >;
  jobs: readonly PlannedJob[];
  variables?: readonly Omit<Insertable<PipelineVariablesTable>, 'pipeline_id'>[];
  /** Seconds; for jobs without a `timeout`. */
  timeout: number;
  /** `workflow: auto_cancel: on_job_failure: all`. */
  cancel_on_failure?: boolean;
};

const selectConfigsByDigest = compiled((db, params: { project_id: number; digests: string[] }, dialect) =>
  db
    .selectFrom('job_configs')
    .select(['id', 'digest'])
    .where('project_id', '=', params.project_id)
    .where(dialect.oneOf('digest', params.digests))
    .compile(),
);

const sha256Hex = (config: string): string => hash('sha256', config, 'hex');

const toConfigText = ({ position: _place, ...job }: PlannedJob, input: NewPipeline): string => {
  const config: JobConfig = input.cancel_on_failure === true ? { ...job, cancel_on_failure: true } : job;
  return JSON.stringify(config);
};

/** Stores missing job configs and returns the config id of each job, in order. */
const insertConfigs = async (tx: Tx, input: NewPipeline): Promise<number[]> => {
  const { project_id } = input.pipeline;
  const texts = input.jobs.map((job) => toConfigText(job, input));
  const digests = texts.map(sha256Hex);
  const byDigest = new Map(digests.map((digest, index) => [digest, texts[index] ?? '']));
  const query = { project_id, digests: [...byDigest.keys()] };
  const loadConfigIds = async () =>
    new Map((await selectConfigsByDigest(tx.db, query)).map(({ id, digest }) => [digest, id]));
  let ids = await loadConfigIds();
  if (ids.size < byDigest.size) {
    const missing = [...byDigest].filter(([digest]) => !ids.has(digest));
    const rows = missing.map(([digest, config]) => ({ project_id, digest, config }));
    await insertMany(tx, 'job_configs', rows, 'on conflict do nothing');
    ids = await loadConfigIds();
  }
  return digests.map((digest) => {
    const id = ids.get(digest);
    if (id === undefined) throw new Error('a job config was not stored');
    return id;
  });
};

const insertStages = async (tx: Tx, pipeline_id: number, jobs: readonly PlannedJob[]) => {
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

/** Whether the job starts or mirrors another pipeline, and so needs no runner. */
const isBridge = ({ trigger, mirrors }: PlannedJob): boolean => trigger !== null || mirrors !== null;

type ParentIds = { pipeline_id: number; stage_id: number; config_id: number };

const toJobRow = (
  tx: Tx,
  input: NewPipeline,
  job: PlannedJob,
  parentIds: ParentIds,
): Insertable<JobsTable> => {
  const { project_id, ref, tag, protected: isProtected, user_id } = input.pipeline;
  return {
    ...parentIds,
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
    allow_failure: toFlag(job.allow_failure),
    by_needs: toFlag(job.needs !== null),
    interruptible: toFlag(job.interruptible === true),
    bridge: toFlag(isBridge(job)),
    tag_list: JSON.stringify([...new Set(job.tags)].toSorted()),
    environment: job.environment?.name ?? null,
    resource_group: job.resource_group,
    timeout: isBridge(job) ? null : (job.timeout ?? input.timeout),
    trace_key: generateTraceKey(),
    created_at: tx.now,
    updated_at: tx.now,
  };
};

const insertNeeds = async (tx: Tx, pipeline_id: number, jobs: readonly PlannedJob[]): Promise<void> => {
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
      artifacts: toFlag(artifacts),
      optional: toFlag(optional),
    })),
  );
  await insertMany(tx, 'job_needs', needs, 'on conflict do nothing');
};

const insertResourceGroups = async (tx: Tx, project_id: number, jobs: readonly PlannedJob[]) => {
  const keys = [...new Set(jobs.flatMap((job) => job.resource_group ?? []))].toSorted();
  const times = { created_at: tx.now, updated_at: tx.now };
  const rows = keys.map((key) => ({ project_id, key, job_id: null, ...times }));
  await insertMany(tx, 'resource_groups', rows, 'on conflict do nothing');
};

const insertJobs = async (tx: Tx, input: NewPipeline, pipeline_id: number): Promise<void> => {
  const configs = await insertConfigs(tx, input);
  const stages = await insertStages(tx, pipeline_id, input.jobs);
  const rows = input.jobs.map((job, index) =>
    toJobRow(tx, input, job, {
      pipeline_id,
      stage_id: stages.get(job.stage_position) ?? 0,
      config_id: configs[index] ?? 0,
    }),
  );
  await insertMany(tx, 'jobs', rows);
  await insertNeeds(tx, pipeline_id, input.jobs);
  await insertResourceGroups(tx, input.pipeline.project_id, input.jobs);
};

/**
 * Inserts a pipeline and returns its id. Its jobs are `created`; `advancePipeline` starts them. Enqueues the
 * cancellation of older pipelines of its ref.
 */
export const insertPipeline = async (tx: Tx, input: NewPipeline): Promise<number> => {
  const { pipeline, jobs, variables = [] } = input;
  const status = pipeline.status ?? 'created';
  const ended_at = status === 'created' ? null : tx.now;
  const pipeline_id = await insertRow(tx.db, 'pipelines', {
    auto_cancel: 'conservative',
    merge_request_id: null,
    name: null,
    yaml_errors: null,
    failure_reason: null,
    ...pipeline,
    // Also locks the project's job configs, which pipelines share.
    iid: await takeIid(tx, pipeline.project_id, 'pipeline'),
    status,
    created_at: tx.now,
    updated_at: tx.now,
    started_at: null,
    finished_at: ended_at,
    duration: null,
  });
  const variableRows = variables.map(({ key, sealed_value, variable_type, raw }) => ({
    pipeline_id,
    key,
    sealed_value,
    variable_type: variable_type ?? 'env_var',
    raw: raw ?? 0,
  }));
  await insertMany(tx, 'pipeline_variables', variableRows);
  if (jobs.length > 0) {
    await insertJobs(tx, input, pipeline_id);
    await enqueueAutoCancel(tx, { ...pipeline, id: pipeline_id });
  }
  if (status !== 'created') await enqueuePipelineEnded(tx, pipeline_id);
  collectPipeline(tx, { id: pipeline_id, project_id: pipeline.project_id });
  return pipeline_id;
};
