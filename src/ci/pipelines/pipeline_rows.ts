/** Loads and locks pipeline and job rows, and loads job configs. */
import type { Selectable } from 'kysely';
import type { PlannedJob } from '../ci_file/plan.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import { immutableRowCache } from '../../platform/db/immutable_rows.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { JobsTable, PipelinesTable } from '../../platform/db/schema/ci.ts';

export type Pipeline = Selectable<PipelinesTable>;
export type Job = Selectable<JobsTable>;

/** The stored configuration of a job. It has no position in the file, so that equal jobs share one row. */
export type JobConfig = Omit<PlannedJob, 'position'> & {
  /** The job's failure cancels the pipeline. */
  cancel_on_failure?: true;
};

const selectPipelineForUpdate = compiled((db, { id }: { id: number }, dialect) =>
  db.selectFrom('pipelines').selectAll().where('id', '=', id).modifyEnd(dialect.forUpdate).compile(),
);

const selectPipelineOfJobForUpdate = compiled((db, { job_id }: { job_id: number }, dialect) =>
  db
    .selectFrom('pipelines')
    .selectAll()
    .where('id', '=', (jobs) => jobs.selectFrom('jobs').select('pipeline_id').where('id', '=', job_id))
    .modifyEnd(dialect.forUpdate)
    .compile(),
);

export const selectJobById = compiled((db, { id }: { id: number }) =>
  db.selectFrom('jobs').selectAll().where('id', '=', id).compile(),
);

export const selectJobsById = compiled((db, { ids }: { ids: readonly number[] }, dialect) =>
  db.selectFrom('jobs').selectAll().where(dialect.oneOf('id', ids)).compile(),
);

export const selectPipelineById = compiled((db, { id }: { id: number }) =>
  db.selectFrom('pipelines').selectAll().where('id', '=', id).compile(),
);

/** Loads a job. @throws Error if it does not exist */
export const requireJob = async (db: Reader, id: number): Promise<Job> => {
  const [job] = await selectJobById(db, { id });
  if (job === undefined) throw new Error(`there is no job ${id}`);
  return job;
};

/** Locks a pipeline. Every change of a pipeline or its jobs takes this lock first. null if there is none. */
export const lockPipeline = async (tx: Tx, pipeline_id: number): Promise<Pipeline | null> => {
  const [pipeline] = await selectPipelineForUpdate(tx.db, { id: pipeline_id });
  return pipeline ?? null;
};

const lockPipelineOfJob = async (tx: Tx, job_id: number): Promise<Pipeline | null> => {
  const [pipeline] = await selectPipelineOfJobForUpdate(tx.db, { job_id });
  return pipeline ?? null;
};

export type LockedJob = { pipeline: Pipeline; job: Job };

/** Locks the job's pipeline and loads the job's current row. */
export const lockJob = async (tx: Tx, job_id: number): Promise<LockedJob | null> => {
  const pipeline = await lockPipelineOfJob(tx, job_id);
  const [job] = pipeline === null ? [] : await selectJobById(tx.db, { id: job_id });
  return pipeline === null || job === undefined ? null : { pipeline, job };
};

const configsById = compiled((db, { ids }: { ids: number[] }, dialect) =>
  db.selectFrom('job_configs').select(['id', 'config']).where(dialect.oneOf('id', ids)).compile(),
);

const configCache = immutableRowCache<number, JobConfig>(500);
/** Characters of the longest config that is cached. */
const maxCachedLength = 8_192;

const parseConfig = (db: Reader, { id, config }: { id: number; config: string }): JobConfig => {
  const parsed = JSON.parse(config) as JobConfig;
  if (!db.isTransaction && config.length <= maxCachedLength) configCache.set(db, id, parsed);
  return parsed;
};

/** Loads job configs by config id. The objects are cached and shared: do not modify them. */
export const loadJobConfigs = async (
  db: Reader,
  jobs: readonly Pick<Job, 'config_id'>[],
): Promise<ReadonlyMap<number, JobConfig>> => {
  const configs = new Map<number, JobConfig>();
  const ids = new Set(jobs.map((job) => job.config_id));
  for (const id of ids) {
    const config = configCache.get(db, id);
    if (config !== undefined) configs.set(id, config);
  }
  const uncached = [...ids].filter((id) => !configs.has(id));
  const rows = uncached.length === 0 ? [] : await configsById(db, { ids: uncached });
  for (const row of rows) configs.set(row.id, parseConfig(db, row));
  return configs;
};

/** Loads the stored configuration of a job. */
export const loadJobConfig = async (db: Reader, job: Pick<Job, 'config_id'>): Promise<JobConfig> => {
  const { config_id } = job;
  const config = configCache.get(db, config_id) ?? (await loadJobConfigs(db, [job])).get(config_id);
  if (config === undefined) throw new Error(`there is no job config ${job.config_id}`);
  return config;
};
