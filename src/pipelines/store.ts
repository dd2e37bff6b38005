/** The rows of a pipeline: taken under its lock, and what the file says of its jobs. */
import type { Selectable } from 'kysely';
import type { PlannedJob } from '../ci_file/plan.ts';
import { compiled } from '../db/compiled.ts';
import { keep } from '../db/kept.ts';
import type { Reader, Tx } from '../db/open.ts';
import type { JobsTable, PipelinesTable } from '../db/schema_ci.ts';

export type Pipeline = Selectable<PipelinesTable>;
export type Job = Selectable<JobsTable>;

/** What is kept of the file's job: all but where it stands, so that jobs of the same words share it. */
export type JobConfig = Omit<PlannedJob, 'place'> & {
  /** Its failure cancels the pipeline. */
  cancel_on_failure?: true;
};

const lockedPipeline = compiled((db, { id }: { id: number }, words) =>
  db.selectFrom('pipelines').selectAll().where('id', '=', id).modifyEnd(words.forUpdate).compile(),
);

const lockedPipelineOf = compiled((db, { job_id }: { job_id: number }, words) =>
  db
    .selectFrom('pipelines')
    .selectAll()
    .where('id', '=', (jobs) => jobs.selectFrom('jobs').select('pipeline_id').where('id', '=', job_id))
    .modifyEnd(words.forUpdate)
    .compile(),
);

export const jobById = compiled((db, { id }: { id: number }) =>
  db.selectFrom('jobs').selectAll().where('id', '=', id).compile(),
);

export const jobsById = compiled((db, { ids }: { ids: readonly number[] }, words) =>
  db.selectFrom('jobs').selectAll().where(words.oneOf('id', ids)).compile(),
);

export const pipelineById = compiled((db, { id }: { id: number }) =>
  db.selectFrom('pipelines').selectAll().where('id', '=', id).compile(),
);

/** @throws where there is none */
export const jobOf = async (db: Reader, id: number): Promise<Job> => {
  const [job] = await jobById(db, { id });
  if (job === undefined) throw new Error(`there is no job ${id}`);
  return job;
};

/** Whoever changes a pipeline or its jobs takes this first: no two do at once. null: there is none. */
export const lockPipeline = async (tx: Tx, pipeline_id: number): Promise<Pipeline | null> => {
  const [pipeline] = await lockedPipeline(tx.db, { id: pipeline_id });
  return pipeline ?? null;
};

/** As `lockPipeline`, by one of its jobs. */
const lockPipelineOf = async (tx: Tx, job_id: number): Promise<Pipeline | null> => {
  const [pipeline] = await lockedPipelineOf(tx.db, { job_id });
  return pipeline ?? null;
};

export type LockedJob = { pipeline: Pipeline; job: Job };

/** A job as it is, under its pipeline's lock. */
export const lockJob = async (tx: Tx, job_id: number): Promise<LockedJob | null> => {
  const pipeline = await lockPipelineOf(tx, job_id);
  const [job] = pipeline === null ? [] : await jobById(tx.db, { id: job_id });
  return pipeline === null || job === undefined ? null : { pipeline, job };
};

const configsById = compiled((db, { ids }: { ids: number[] }, words) =>
  db.selectFrom('job_configs').select(['id', 'config']).where(words.oneOf('id', ids)).compile(),
);

const kept = keep<number, JobConfig>(500);
/** Characters of the longest that is kept. */
const longestKept = 8_192;

const readConfig = (db: Reader, { id, config }: { id: number; config: string }): JobConfig => {
  const read = JSON.parse(config) as JobConfig;
  if (!db.isTransaction && config.length <= longestKept) kept.set(db, id, read);
  return read;
};

/** By the id of the config. They are shared: nobody changes one. */
export const jobConfigsOf = async (
  db: Reader,
  jobs: readonly Pick<Job, 'config_id'>[],
): Promise<ReadonlyMap<number, JobConfig>> => {
  const found = new Map<number, JobConfig>();
  const ids = new Set(jobs.map((job) => job.config_id));
  for (const id of ids) {
    const config = kept.get(db, id);
    if (config !== undefined) found.set(id, config);
  }
  const others = [...ids].filter((id) => !found.has(id));
  const rows = others.length === 0 ? [] : await configsById(db, { ids: others });
  for (const row of rows) found.set(row.id, readConfig(db, row));
  return found;
};

/** What the file says of a job. */
export const jobConfigOf = async (db: Reader, job: Pick<Job, 'config_id'>): Promise<JobConfig> => {
  const { config_id } = job;
  const config = kept.get(db, config_id) ?? (await jobConfigsOf(db, [job])).get(config_id);
  if (config === undefined) throw new Error(`there is no job config ${job.config_id}`);
  return config;
};
