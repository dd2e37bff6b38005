/** Answers with a job in them that did not arrive. */
import type { Platform } from '../access/call.ts';
import { dropJob, requeueJob } from '../pipelines/job_states.ts';
import { type Job, lockJob } from '../pipelines/store.ts';

/** `seen_at` of a job whose answer was lost once. */
export const lostOnce = 0;

/** Whose runner left before the answer was sent: it waits again, as if nothing had been. */
export const takeBack = async (
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
 * Whose runner was sent it and was not heard since: it waits again, once; the second time, it fails.
 * @param isLost looks at it again, under its lock
 */
export const lose = async (
  { store }: Pick<Platform, 'store'>,
  job_id: number,
  isLost: (job: Job) => boolean,
): Promise<void> => {
  await store.write(async (tx) => {
    const locked = await lockJob(tx, job_id);
    if (locked === null || !isLost(locked.job)) return;
    if (locked.job.seen_at === lostOnce) {
      await dropJob(tx, job_id, 'runner_system_failure');
      return;
    }
    await requeueJob(tx, job_id);
    await tx.db.updateTable('jobs').set({ seen_at: lostOnce }).where('id', '=', job_id).execute();
  });
};
