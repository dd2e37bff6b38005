/** Mends the times of work after the clock was set back, so that nothing waits until the clock is where it was. */
import { sql } from 'kysely';
import type { Store } from '../db/open.ts';
import { hourMilliseconds, maxClockDifference, minuteMilliseconds } from '../time.ts';
import { lease, never } from './leases.ts';

/** Work that was to start this soon after its cause does not depend on the time of day. */
const soon = minuteMilliseconds;

/** The longest pause before another attempt. */
const longestPause = hourMilliseconds;

/** The earliest time of the clock since it was set back. `unknown`: it may have been set while no process ran. */
export type SetBackTo = number | 'unknown';

/**
 * Returns after which time work counts as enqueued by a clock ahead of ours, and the time at which it is then due. Work
 * that was enqueued since the step gets the same time, so that their order by id is that of their causes.
 */
const getBounds = ({ dialect }: Store, now: number, setBackTo: SetBackTo): { after: number; due: number } => {
  if (setBackTo !== 'unknown') return { after: setBackTo, due: setBackTo };
  // On SQLite no other process has another clock.
  const difference = dialect.engine === 'sqlite' ? 0 : maxClockDifference;
  return { after: now + difference, due: now - difference };
};

/**
 * Makes work due that was enqueued by a clock ahead of ours, in the order of its causes and before what is enqueued
 * from now on; shortens leases and pauses that end later than any can. Cheap: it changes nothing else.
 * @param pausing kinds whose due time is the end of a pause, whatever its length
 */
export const mendTimes = async (
  store: Store,
  setBackTo: SetBackTo,
  pausing: readonly string[],
): Promise<void> =>
  await store.write(async ({ db, now }) => {
    const { after, due } = getBounds(store, now, setBackTo);
    await db
      .updateTable('work')
      .set({ run_at: due, created_at: now })
      .where('created_at', '>', after)
      .where('run_at', '>', due)
      .where('run_at', '<', never)
      .where((is) => {
        const isSoon = sql<boolean>`run_at <= created_at + ${soon}`;
        return pausing.length === 0 ? isSoon : is.or([isSoon, is('name', 'in', pausing)]);
      })
      .execute();
    await db
      .updateTable('work')
      .set({ run_at: now })
      .where('attempts', '>', 0)
      .where('run_at', '>', now + longestPause + maxClockDifference)
      .where('run_at', '<', never)
      .execute();
    await db
      .updateTable('work')
      .set({ locked_until: now + lease })
      .where('locked_until', '>', now + lease + maxClockDifference)
      .execute();
  });
