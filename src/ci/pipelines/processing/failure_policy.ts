/** Applies what the configuration says about a failed job: retry, `allow_failure`, cancel the pipeline. */
import type { Tx } from '../../../platform/db/open.ts';
import type { Retry } from '../../ci_file/config_types.ts';
import { cancelJobs } from './cancel_jobs.ts';
import { enqueueCancelDownstream } from '../downstream/work.ts';
import { loadLatestJobs } from './latest_jobs.ts';
import { replaceJobs } from './replace_jobs.ts';
import { type Job, loadJobConfig } from '../pipeline_rows.ts';

export type JobFailure = Pick<Job, 'failure_reason' | 'exit_code'>;

/** Decides whether a failed job is retried. Pure. `earlierRuns`: how often it ran before. */
export const shouldRetry = (
  retry: Retry | null,
  { failure_reason, exit_code }: JobFailure,
  earlierRuns: number,
): boolean => {
  if (retry === null || earlierRuns >= retry.max) return false;
  if (exit_code !== null && retry.exit_codes.includes(exit_code)) return true;
  // `retry` with exit codes and no reasons covers only these codes.
  if (retry.when.includes('always')) return retry.exit_codes.length === 0;
  return retry.when.includes(failure_reason ?? 'unknown_failure');
};

const countEarlierRuns = async (tx: Tx, { pipeline_id, name }: Job): Promise<number> => {
  const row = await tx.db
    .selectFrom('jobs')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('pipeline_id', '=', pipeline_id)
    .where('name', '=', name)
    .where('retried', '=', 1)
    .executeTakeFirstOrThrow();
  return Number(row.count);
};

const cancelOthers = async (tx: Tx, { id, pipeline_id }: Job): Promise<void> => {
  const jobs = await loadLatestJobs(tx.db, pipeline_id);
  await cancelJobs(
    tx,
    jobs.filter((job) => job.id !== id),
  );
  if (jobs.some(({ bridge }) => bridge === 1)) {
    await enqueueCancelDownstream(tx, { pipeline_id, job_id: null, is_any: false });
  }
};

/** Applies the policy to a job that has just failed. Returns the ids of retries that start immediately. */
export const applyFailurePolicy = async (tx: Tx, job: Job): Promise<ReadonlySet<number>> => {
  const { retry, allow_failure_exit_codes, cancel_on_failure } = await loadJobConfig(tx.db, job);
  const isRetried =
    retry !== null && job.retried === 0 && shouldRetry(retry, job, await countEarlierRuns(tx, job));
  if (isRetried) return new Set(await replaceJobs(tx, [job], 'same'));
  const isAllowed = job.exit_code !== null && allow_failure_exit_codes.includes(job.exit_code);
  if (isAllowed) await tx.db.updateTable('jobs').set({ allow_failure: 1 }).where('id', '=', job.id).execute();
  if (cancel_on_failure === true && job.allow_failure === 0 && !isAllowed) await cancelOthers(tx, job);
  return new Set();
};
