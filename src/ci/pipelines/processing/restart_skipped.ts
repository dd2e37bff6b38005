import type { Tx } from '../../../platform/db/open.ts';
import { advanceLockedPipeline } from './advance_pipeline.ts';
import { enqueueReopenUpstream } from '../downstream/work.ts';
import { type LatestJob, loadLatestJobs } from './latest_jobs.ts';
import { setStatus } from './set_job_statuses.ts';
import { findRestartable } from './compute_next_statuses.ts';
import type { Pipeline } from '../pipeline_rows.ts';

/** Resets jobs that were skipped because of these jobs to `created`. Returns all current jobs of the pipeline. */
export const resetSkipped = async (
  tx: Tx,
  pipeline: Pipeline,
  job_ids: ReadonlySet<number>,
): Promise<LatestJob[]> => {
  const jobs = await loadLatestJobs(tx.db, pipeline.id);
  const changed = jobs.filter(({ id }) => job_ids.has(id));
  const restartable = new Set(findRestartable(jobs, changed).map(({ id }) => id));
  await setStatus(
    tx,
    jobs.filter(({ id }) => restartable.has(id)),
    'created',
  );
  return jobs;
};

/** Starts jobs of a locked pipeline for a user, resets jobs skipped behind them, and reopens the upstream job. */
export const startAndReopen = async (
  tx: Tx,
  pipeline: Pipeline,
  { job_ids, user_id }: { job_ids: readonly number[]; user_id: number },
): Promise<void> => {
  const chosen = new Set(job_ids);
  const jobs = await resetSkipped(tx, pipeline, chosen);
  await advanceLockedPipeline(tx, pipeline, { jobs, chosen });
  await enqueueReopenUpstream(tx, pipeline, user_id);
};
