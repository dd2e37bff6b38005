/** Handles claimed jobs whose answer was lost: it did not reach the runner. */
import type { Platform } from '../../core/platform.ts';
import { failJob, requeueJob } from '../pipelines/processing/job_transitions.ts';
import { type Job, lockJob } from '../pipelines/pipeline_rows.ts';

/** Value of `seen_at` for a job whose answer was lost once. */
export const lostOnce = 0;

/** Requeues a job whose runner disconnected before the answer was sent. */
export const returnToQueue = async (
  { store }: Pick<Platform, 'store'>,
  job_id: number,
  token_hash: string,
): Promise<void> => {
  await store.write(async (tx) => {
    const locked = await lockJob(tx, job_id);
    if (locked?.job.token_hash === token_hash) await requeueJob(tx, job_id);
  });
};

/**
 * Requeues a job whose runner sent nothing after the answer; fails it if this happens a second time.
 * @param isLost rechecks the row under its lock
 */
export const handleLostJob = async (
  { store }: Pick<Platform, 'store'>,
  job_id: number,
  isLost: (job: Job) => boolean,
): Promise<void> => {
  await store.write(async (tx) => {
    const locked = await lockJob(tx, job_id);
    if (locked === null || !isLost(locked.job)) return;
    if (locked.job.seen_at === lostOnce) {
      await failJob(tx, job_id, 'runner_system_failure');
      return;
    }
    await requeueJob(tx, job_id);
    await tx.db.updateTable('jobs').set({ seen_at: lostOnce }).where('id', '=', job_id).execute();
  });
};
