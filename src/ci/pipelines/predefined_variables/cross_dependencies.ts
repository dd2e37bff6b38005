/** Finds the jobs whose artifacts and variables a job gets, in its own and other pipelines. */
import type { Platform } from '../../../core/platform.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { type Dependency, loadDependencies } from './dependencies.ts';
import { insertMany } from '../../../platform/db/insert_many.ts';
import type { Job, JobConfig } from '../pipeline_rows.ts';
import type { SharedQueries } from '../shared_queries.ts';

const selectStoredDependencies = compiled((db, { job_id }: { job_id: number }) =>
  db
    .selectFrom('job_dependencies')
    .innerJoin('jobs', 'jobs.id', 'job_dependencies.dependency_id')
    .select(['jobs.id', 'jobs.project_id', 'jobs.name', 'jobs.stage_position', 'jobs.status'])
    .where('job_dependencies.job_id', '=', job_id)
    .orderBy('jobs.id')
    .compile(),
);

/** Stores the jobs of other pipelines whose artifacts this job may download. Called when the job starts. */
export const storeDependencies = async (tx: Tx, job_id: number, ids: readonly number[]): Promise<void> => {
  await tx.db.deleteFrom('job_dependencies').where('job_id', '=', job_id).execute();
  const rows = [...new Set(ids)].map((dependency_id) => ({ job_id, dependency_id }));
  await insertMany(tx, 'job_dependencies', rows);
};

type DependentJob = Pick<Job, 'id' | 'pipeline_id' | 'stage_position'>;
type Config = Pick<JobConfig, 'needs' | 'dependencies' | 'cross_needs'>;

/** Loads all dependencies. Dependencies on other pipelines are stored when the job starts. */
export const loadAllDependencies = async (
  { store: { db } }: Platform,
  job: DependentJob,
  config: Config,
  queries?: SharedQueries,
): Promise<Dependency[]> => {
  const crossPipeline =
    config.cross_needs.length === 0 ? [] : await selectStoredDependencies(db, { job_id: job.id });
  return [...crossPipeline, ...(await loadDependencies(db, job, config, queries))];
};
