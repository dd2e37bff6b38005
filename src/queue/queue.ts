/**
 * Work for later: a table of rows, each a name and a payload, written in the transaction of its cause and taken
 * under a lease. Work must be safe to run twice: a process may die between doing it and saying so.
 */
import { sql } from 'kysely';
import type { Tx } from '../db/open.ts';

export type Payload = { [name: string]: number | string | boolean | null };
export type WorkHandler = (payload: Payload) => Promise<void>;

/** What a transaction announces that enqueues work which is due. */
export const workTopic = 'work';

/**
 * Enqueues one piece of work. With a `unique_key`, nothing is added while such a row waits; it only runs earlier
 * if this would. Of those with the same `turn` one runs at a time, of all processes, the oldest first.
 */
export const enqueue = async (
  tx: Tx,
  name: string,
  payload: Payload,
  options: { unique_key?: string; turn?: string; run_at?: number } = {},
): Promise<void> => {
  const { run_at = tx.now, unique_key = null, turn = null } = options;
  await tx.db
    .insertInto('work')
    .values({
      name,
      payload: JSON.stringify(payload),
      unique_key,
      turn,
      run_at,
      locked_until: null,
      locked_by: null,
      last_error: null,
      created_at: tx.now,
    })
    .onConflict((clash) =>
      clash.column('unique_key').doUpdateSet({
        run_at: sql<number>`case when work.run_at < excluded.run_at then work.run_at else excluded.run_at end`,
      }),
    )
    .execute();
  if (run_at <= tx.now) tx.announce(workTopic);
};
