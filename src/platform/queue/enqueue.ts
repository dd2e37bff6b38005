/**
 * The work queue: a table of rows with a name and a payload, written in the transaction of their cause and leased by
 * workers. Handlers must be safe to run twice, because a process may die between finishing work and recording it.
 */
import { sql } from 'kysely';
import type { Tx } from '../db/open.ts';

export type Payload = { [name: string]: number | string | boolean | null };
export type WorkHandler = (payload: Payload) => Promise<void>;

/** Topic that a transaction announces when it enqueues work that is due. */
export const workTopic = 'work';

/**
 * Enqueues one piece of work. With a `unique_key`, adds nothing while such a row waits, and at most makes it run
 * earlier. Work with the same `turn` runs one at a time across all processes, oldest first.
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
