/** Replaces jobs of a locked pipeline by new jobs (retries). The caller advances the pipeline. */
import type { Insertable } from 'kysely';
import { generateTraceKey } from '../../../platform/blob/trace_path.ts';
import type { Tx } from '../../../platform/db/open.ts';
import type { JobsTable } from '../../../platform/db/schema/ci.ts';
import { replaceableStatuses } from '../../../core/job_statuses.ts';
import { insertMany } from '../../../platform/db/insert_many.ts';
import { toFlag } from '../../../platform/db/schema/column_types.ts';
import { refreshProtectedFlagById } from './refresh_protected_flag.ts';
import { type Job, type JobConfig, loadJobConfigs } from '../pipeline_rows.ts';

export const isRetryable = ({ status, retried }: Pick<Job, 'status' | 'retried'>): boolean =>
  retried === 0 && replaceableStatuses.includes(status);

type RetryOptions = {
  user_id: number | null;
  config: JobConfig | undefined;
  timeout: number;
  isProtected: 0 | 1;
};

/** Returns the row of a new job, as the old one was before it ran. */
const toNewJobRow = (
  tx: Tx,
  job: Job,
  { user_id, config, timeout, isProtected }: RetryOptions,
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
  allow_failure: toFlag(config?.allow_failure === true),
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
  trace_key: generateTraceKey(),
  created_at: tx.now,
  updated_at: tx.now,
});

const loadProjectTimeout = async (tx: Tx, project_id: number): Promise<number> => {
  const project = await tx.db
    .selectFrom('projects')
    .select('build_timeout')
    .where('id', '=', project_id)
    .executeTakeFirst();
  return project?.build_timeout ?? 3600;
};

/** Copies needs and manually entered variables from the old jobs to the new jobs. */
const copyNeedsAndVariables = async (tx: Tx, ids: number[]): Promise<void> => {
  const isNew = tx.dialect.oneOf('jobs.id', ids);
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

/** Creates new jobs with status `created` and returns their ids. All jobs must be of one pipeline. */
export const replaceJobs = async (
  tx: Tx,
  jobs: readonly Job[],
  user_id: number | null | 'same',
): Promise<number[]> => {
  const [first] = jobs;
  if (first === undefined) return [];
  const configs = await loadJobConfigs(tx.db, jobs);
  const timeout = await loadProjectTimeout(tx, first.project_id);
  const isProtected = await refreshProtectedFlagById(tx, first.pipeline_id);
  const oldIds = jobs.map(({ id }) => id);
  await tx.db
    .updateTable('jobs')
    .set({ retried: 1, updated_at: tx.now })
    .where(tx.dialect.oneOf('id', oldIds))
    .execute();
  const rows = jobs.map((job) => {
    const config = configs.get(job.config_id);
    const newUserId = user_id === 'same' ? job.user_id : user_id;
    return toNewJobRow(tx, job, { config, timeout, isProtected, user_id: newUserId });
  });
  await insertMany(tx, 'jobs', rows);
  const inserted = await tx.db
    .selectFrom('jobs')
    .select('id')
    .where('pipeline_id', '=', first.pipeline_id)
    .where(tx.dialect.oneOf('retry_of_id', oldIds))
    .execute();
  const ids = inserted.map(({ id }) => id);
  await copyNeedsAndVariables(tx, ids);
  return ids;
};
