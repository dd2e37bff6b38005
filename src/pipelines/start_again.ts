import type { Tx } from '../db/open.ts';
import { advanceLocked } from './advance.ts';
import { followAgainLater } from './downstream_work.ts';
import { type LatestJob, loadLatestJobs } from './latest_jobs.ts';
import { setStatus } from './move_jobs.ts';
import { awokenBy } from './process.ts';
import type { Pipeline } from './store.ts';

/** What was skipped behind a job of a locked pipeline may run after all. Answers all of its jobs. */
export const awaken = async (tx: Tx, pipeline: Pipeline, job_id: number): Promise<LatestJob[]> => {
  const jobs = await loadLatestJobs(tx.db, pipeline.id);
  const changed = jobs.filter(({ id }) => id === job_id);
  const awoken = new Set(awokenBy(jobs, changed).map(({ id }) => id));
  await setStatus(
    tx,
    jobs.filter(({ id }) => awoken.has(id)),
    'created',
  );
  return jobs;
};

/** Somebody starts a job of a locked pipeline: what was skipped behind it waits again. */
export const startAgain = async (
  tx: Tx,
  pipeline: Pipeline,
  { job_id, user_id }: { job_id: number; user_id: number },
): Promise<void> => {
  const jobs = await awaken(tx, pipeline, job_id);
  await advanceLocked(tx, pipeline, { jobs, chosen: new Set([job_id]) });
  await followAgainLater(tx, pipeline, user_id);
};
