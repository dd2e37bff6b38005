/** Whose artifacts and variables a job gets, of its own pipeline and of others. */
import type { Platform } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';
import { type Dependency, dependenciesOf } from './dependencies.ts';
import { insertMany } from './insert_many.ts';
import type { Job, JobConfig } from './store.ts';
import type { Together } from './together.ts';

const stored = compiled((db, { job_id }: { job_id: number }) =>
  db
    .selectFrom('job_dependencies')
    .innerJoin('jobs', 'jobs.id', 'job_dependencies.dependency_id')
    .select(['jobs.id', 'jobs.project_id', 'jobs.name', 'jobs.stage_position', 'jobs.status'])
    .where('job_dependencies.job_id', '=', job_id)
    .orderBy('jobs.id')
    .compile(),
);

/** What a job of other pipelines is to be had by this one, as it starts: it may take of these and no others. */
export const keepDependencies = async (tx: Tx, job_id: number, ids: readonly number[]): Promise<void> => {
  await tx.db.deleteFrom('job_dependencies').where('job_id', '=', job_id).execute();
  const rows = [...new Set(ids)].map((dependency_id) => ({ job_id, dependency_id }));
  await insertMany(tx, 'job_dependencies', rows);
};

type Asking = Pick<Job, 'id' | 'pipeline_id' | 'stage_position'>;
type Config = Pick<JobConfig, 'needs' | 'dependencies' | 'cross_needs'>;

/** Those of other pipelines as they were found when the job started. */
export const allDependenciesOf = async (
  { store: { db } }: Platform,
  job: Asking,
  config: Config,
  together?: Together,
): Promise<Dependency[]> => {
  const others = config.cross_needs.length === 0 ? [] : await stored(db, { job_id: job.id });
  return [...others, ...(await dependenciesOf(db, job, config, together))];
};
