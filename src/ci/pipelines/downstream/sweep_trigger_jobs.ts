/** Ends trigger jobs whose downstream pipeline was never created or has been deleted. */
import { sql } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import { hourMilliseconds } from '../../../platform/time.ts';
import { findDownstream, followDownstream } from './follow_downstream.ts';
import { failJob } from '../processing/job_transitions.ts';
import { lockJob } from '../pipeline_rows.ts';

/** Milliseconds within which a downstream pipeline is created, including retries. */
const maxPendingTime = hourMilliseconds;
/** Rows of one sweep. */
const batch = 500;

/** Finds jobs whose pipeline was deleted with its project, and jobs whose start was given up. */
const findOrphanedBridges = async ({ store, clock }: Platform) =>
  await store.db
    .selectFrom('jobs')
    .select(['id', 'status'])
    // Constants in the SQL text let the engine use the partial index.
    .where(sql<boolean>`bridge = 1 and status in ('pending', 'running', 'manual')`)
    .where(sql<boolean>`(status <> 'pending' or queued_at < ${clock.now() - maxPendingTime})`)
    .where(sql<boolean>`(status = 'pending' or started_at is not null)`)
    .where('mirrored_pipeline_id', 'is', null)
    .where((is) =>
      is.not(is.exists(is.selectFrom('pipelines').select('id').whereRef('source_job_id', '=', 'jobs.id'))),
    )
    .orderBy('id')
    .limit(batch)
    .execute();

const failPending = async ({ store }: Platform, id: number): Promise<void> =>
  await store.write(async (tx) => {
    const isWaiting = (await lockJob(tx, id))?.job.status === 'pending';
    if (isWaiting && (await findDownstream(tx.db, id)) === null) {
      await failJob(tx, id, 'stuck_or_timeout_failure');
    }
  });

/** Ends one batch of orphaned trigger jobs. Safe to run in several processes concurrently. */
export const sweepBridges = async (platform: Platform): Promise<void> => {
  for (const { id, status } of await findOrphanedBridges(platform)) {
    await (status === 'pending' ? failPending(platform, id) : followDownstream(platform.store, id));
  }
};
