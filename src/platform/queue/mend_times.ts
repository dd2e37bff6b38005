/** Mends the times of work after the clock was set back, so that nothing waits until the clock is where it was. */
import { sql } from 'kysely';
import type { Store } from '../db/open.ts';
import { hourMilliseconds, minuteMilliseconds } from '../time.ts';
import { lease, never } from './leases.ts';

/** Clocks of processes on several hosts differ by less. */
const tolerance = minuteMilliseconds;

/** Work that was to start this soon after its cause does not depend on the time of day. */
const soon = minuteMilliseconds;

/** The longest pause before another attempt. */
const longestPause = hourMilliseconds;

/**
 * Makes work due that was enqueued by a clock ahead of ours, in the order of its causes and before what is enqueued
 * from now on; shortens leases and pauses that end later than any can. Cheap: it changes nothing else.
 */
export const mendTimes = async (store: Store): Promise<void> =>
  await store.write(async ({ db, now }) => {
    await db
      .updateTable('work')
      .set({ run_at: now - tolerance, created_at: now })
      .where('created_at', '>', now + tolerance)
      .where(sql<boolean>`run_at between ${now + 1} and created_at + ${soon}`)
      .execute();
    await db
      .updateTable('work')
      .set({ run_at: now })
      .where('attempts', '>', 0)
      .where('run_at', '>', now + longestPause + tolerance)
      .where('run_at', '<', never)
      .execute();
    await db
      .updateTable('work')
      .set({ locked_until: now + lease })
      .where('locked_until', '>', now + lease + tolerance)
      .execute();
  });
