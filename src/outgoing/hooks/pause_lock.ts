/**
 * Lock between changes stored for a paused hook and the end of its pause, on PostgreSQL; SQLite serializes
 * transactions. Row locks are not enough: new shared locks overtake a waiting exclusive lock, so a pause would never
 * end under constant changes.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';

const hooks: RawBuilder<number> = sql`hashtext(current_schema() || '.paused_hooks')`;

/** Hooks share locks: a server has room for some thousands of them. */
const maxLocks = 64;

/** Makes the end of the pauses wait for this transaction. The caller then reads again which hooks pause. */
export const holdPauses = async ({ db, dialect }: Tx, hookIds: readonly number[]): Promise<void> => {
  if (dialect.engine === 'sqlite' || hookIds.length === 0) return;
  const locks = [...new Set(hookIds.map((id) => id % maxLocks))].toSorted((a, b) => a - b);
  await sql`select pg_advisory_xact_lock_shared(${hooks}, lock)
    from unnest(${locks}::int[]) as lock`.execute(db);
};

/**
 * Waits for the transactions that hold the pause of a hook; later transactions wait, and see that it has ended. A
 * transaction that also locks the row of the hook does so first.
 */
export const lockPause = async ({ db, dialect }: Tx, hookId: number): Promise<void> => {
  if (dialect.engine === 'sqlite') return;
  await sql`select pg_advisory_xact_lock(${hooks}, ${hookId % maxLocks}::int)`.execute(db);
};
