import type { Tx } from '../db/open.ts';
import { advanceLocked } from './advance.ts';
import { loadLatestJobs } from './latest_jobs.ts';
import { setStatus } from './move_jobs.ts';
import { awokenBy } from './process.ts';
import type { Pipeline } from './store.ts';

/** Starts a job of a locked pipeline; what was skipped behind it may run after all. */
export const startAgain = async (tx: Tx, pipeline: Pipeline, job_id: number): Promise<void> => {
  const jobs = await loadLatestJobs(tx.db, pipeline.id);
  const changed = jobs.filter(({ id }) => id === job_id);
  const awoken = new Set(awokenBy(jobs, changed).map(({ id }) => id));
  await setStatus(
    tx,
    jobs.filter(({ id }) => awoken.has(id)),
    'created',
  );
  await advanceLocked(tx, pipeline, { jobs, chosen: new Set([job_id]) });
};
