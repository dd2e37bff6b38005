import type { Tx } from '../../../platform/db/open.ts';
import { advanceLockedPipeline } from './advance_pipeline.ts';
import { loadLatestJobs } from './latest_jobs.ts';
import { lockPipeline } from '../pipeline_rows.ts';

/** Starts the delayed jobs of a pipeline whose time has come. */
export const startDelayed = async (tx: Tx, pipeline_id: number): Promise<void> => {
  const pipeline = await lockPipeline(tx, pipeline_id);
  if (pipeline === null) return;
  const jobs = await loadLatestJobs(tx.db, pipeline_id);
  const due = jobs.filter(
    ({ status, scheduled_at }) => status === 'scheduled' && (scheduled_at ?? 0) <= tx.now,
  );
  if (due.length === 0) return;
  await advanceLockedPipeline(tx, pipeline, { jobs, chosen: new Set(due.map(({ id }) => id)) });
};
