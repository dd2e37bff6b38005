/** What the file says of a job's failure: that it may fail so, that it is tried again, that all else ends. */
import type { Tx } from '../db/open.ts';
import type { Retry } from '../ci_file/plan_types.ts';
import { cancelJobs } from './cancel_jobs.ts';
import { cancelStartedLater } from './downstream_work.ts';
import { loadLatestJobs } from './latest_jobs.ts';
import { replaceJobs } from './replace_jobs.ts';
import { type Job, jobConfigOf } from './store.ts';

export type Failed = Pick<Job, 'failure_reason' | 'exit_code'>;

/** Pure; `tries`: how often the job ran before. */
export const isTriedAgain = (
  retry: Retry | null,
  { failure_reason, exit_code }: Failed,
  tries: number,
): boolean => {
  if (retry === null || tries >= retry.max) return false;
  if (exit_code !== null && retry.exit_codes.includes(exit_code)) return true;
  // Who names exit codes and no reasons means these codes only.
  if (retry.when.includes('always')) return retry.exit_codes.length === 0;
  return retry.when.includes(failure_reason ?? 'unknown_failure');
};

const triesBefore = async (tx: Tx, { pipeline_id, name }: Job): Promise<number> => {
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
    await cancelStartedLater(tx, { pipeline_id, job_id: null, is_any: false });
  }
};

/** Of a job that has just failed. Answers the ids of those that start at once in its place. */
export const afterFailure = async (tx: Tx, job: Job): Promise<ReadonlySet<number>> => {
  const { retry, allow_failure_exit_codes, cancel_on_failure } = await jobConfigOf(tx.db, job);
  const isAgain = retry !== null && job.retried === 0 && isTriedAgain(retry, job, await triesBefore(tx, job));
  if (isAgain) return new Set(await replaceJobs(tx, [job], 'same'));
  const isAllowed = job.exit_code !== null && allow_failure_exit_codes.includes(job.exit_code);
  if (isAllowed) await tx.db.updateTable('jobs').set({ allow_failure: 1 }).where('id', '=', job.id).execute();
  if (cancel_on_failure === true && job.allow_failure === 0 && !isAllowed) await cancelOthers(tx, job);
  return new Set();
};
