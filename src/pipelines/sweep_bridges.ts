/** Jobs that wait in vain for a pipeline that they start, have started, or went as. */
import { sql } from 'kysely';
import type { Platform } from '../access/call.ts';
import { downstreamOf, followDownstream } from './follow_downstream.ts';
import { dropJob } from './job_states.ts';
import { lockJob } from './store.ts';

/** Milliseconds in which one is made, however often it is tried. */
const longestPending = 3_600_000;
/** Rows of one look. */
const batch = 500;

/** Whose pipeline went with its project, and those whose work was given up. */
const lostBridges = async ({ store, clock }: Platform) =>
  await store.db
    .selectFrom('jobs')
    .select(['id', 'status'])
    // In words, so that the index of just these is used.
    .where(sql<boolean>`bridge = 1 and status in ('pending', 'running', 'manual')`)
    .where(sql<boolean>`(status <> 'pending' or queued_at < ${clock.now() - longestPending})`)
    .where(sql<boolean>`(status = 'pending' or started_at is not null)`)
    .where('mirrored_pipeline_id', 'is', null)
    .where((is) =>
      is.not(is.exists(is.selectFrom('pipelines').select('id').whereRef('source_job_id', '=', 'jobs.id'))),
    )
    .orderBy('id')
    .limit(batch)
    .execute();

const dropPending = async ({ store }: Platform, id: number): Promise<void> =>
  await store.write(async (tx) => {
    const isWaiting = (await lockJob(tx, id))?.job.status === 'pending';
    if (isWaiting && (await downstreamOf(tx.db, id)) === null) {
      await dropJob(tx, id, 'stuck_or_timeout_failure');
    }
  });

/** All of them, once. May run in several processes at once. */
export const sweepBridges = async (platform: Platform): Promise<void> => {
  for (const { id, status } of await lostBridges(platform)) {
    // oxlint-disable-next-line no-await-in-loop -- each in a transaction of its own
    await (status === 'pending' ? dropPending(platform, id) : followDownstream(platform.store, id));
  }
};
