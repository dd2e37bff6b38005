/** New jobs in the place of old ones, of a locked pipeline; `advance` is the caller's. */
import type { Insertable } from 'kysely';
import type { Tx } from '../db/open.ts';
import type { JobsTable } from '../db/schema_ci.ts';
import { replaceableStatuses } from '../job_statuses.ts';
import { insertMany } from './insert_many.ts';
import { protectAnewOf } from './protection.ts';
import { type Job, type JobConfig, jobConfigsOf } from './store.ts';

export const isRetryable = ({ status, retried }: Pick<Job, 'status' | 'retried'>): boolean =>
  retried === 0 && replaceableStatuses.includes(status);

type Again = {
  user_id: number | null;
  config: JobConfig | undefined;
  timeout: number;
  isProtected: 0 | 1;
};

/** As it was before it ran. */
const rowOf = (
  tx: Tx,
  job: Job,
  { user_id, config, timeout, isProtected }: Again,
): Insertable<JobsTable> => ({
  project_id: job.project_id,
  pipeline_id: job.pipeline_id,
  stage_id: job.stage_id,
  stage: job.stage,
  stage_position: job.stage_position,
  name: job.name,
  ref: job.ref,
  tag: job.tag,
  status: 'created',
  run_when: job.run_when,
  allow_failure: config?.allow_failure === true ? 1 : 0,
  by_needs: job.by_needs,
  retry_of_id: job.id,
  protected: isProtected,
  interruptible: job.interruptible,
  bridge: job.bridge,
  user_id,
  config_id: job.config_id,
  tag_list: job.tag_list,
  environment: job.environment,
  resource_group: job.resource_group,
  timeout: job.bridge === 1 ? null : (config?.timeout ?? timeout),
  created_at: tx.now,
  updated_at: tx.now,
});

const timeoutOf = async (tx: Tx, project_id: number): Promise<number> => {
  const project = await tx.db
    .selectFrom('projects')
    .select('build_timeout')
    .where('id', '=', project_id)
    .executeTakeFirst();
  return project?.build_timeout ?? 3600;
};

/** What old jobs need, and the variables that people gave them, are the new ones', too. */
const copyBeside = async (tx: Tx, ids: number[]): Promise<void> => {
  const isNew = tx.words.oneOf('jobs.id', ids);
  await tx.db
    .insertInto('job_needs')
    .columns(['job_id', 'name', 'artifacts', 'optional'])
    .expression((db) =>
      db
        .selectFrom('jobs')
        .innerJoin('job_needs as old', 'old.job_id', 'jobs.retry_of_id')
        .select(['jobs.id', 'old.name', 'old.artifacts', 'old.optional'])
        .where(isNew),
    )
    .execute();
  await tx.db
    .insertInto('job_variables')
    .columns(['job_id', 'key', 'sealed_value', 'source'])
    .expression((db) =>
      db
        .selectFrom('jobs')
        .innerJoin('job_variables as old', 'old.job_id', 'jobs.retry_of_id')
        .select(['jobs.id', 'old.key', 'old.sealed_value', 'old.source'])
        .where('old.source', '=', 'play')
        .where(isNew),
    )
    .execute();
};

/** Ids of the new ones, which are `created`; all of one pipeline. */
export const replaceJobs = async (
  tx: Tx,
  jobs: readonly Job[],
  user_id: number | null | 'same',
): Promise<number[]> => {
  const [first] = jobs;
  if (first === undefined) return [];
  const configs = await jobConfigsOf(tx.db, jobs);
  const timeout = await timeoutOf(tx, first.project_id);
  const isProtected = await protectAnewOf(tx, first.pipeline_id);
  const old = jobs.map(({ id }) => id);
  await tx.db
    .updateTable('jobs')
    .set({ retried: 1, updated_at: tx.now })
    .where(tx.words.oneOf('id', old))
    .execute();
  const rows = jobs.map((job) => {
    const config = configs.get(job.config_id);
    const by = user_id === 'same' ? job.user_id : user_id;
    return rowOf(tx, job, { config, timeout, isProtected, user_id: by });
  });
  await insertMany(tx, 'jobs', rows);
  const made = await tx.db
    .selectFrom('jobs')
    .select('id')
    .where('pipeline_id', '=', first.pipeline_id)
    .where(tx.words.oneOf('retry_of_id', old))
    .execute();
  const ids = made.map(({ id }) => id);
  await copyBeside(tx, ids);
  return ids;
};
