import type { Tx } from '../db/open.ts';
import { advanceLocked } from './advance.ts';
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

/** Starts a job of a locked pipeline, and has what was skipped behind it wait again. */
export const startAgain = async (tx: Tx, pipeline: Pipeline, job_id: number): Promise<void> =>
  await advanceLocked(tx, pipeline, { jobs: await awaken(tx, pipeline, job_id), chosen: new Set([job_id]) });
