/**
 * The lock between changes that are stored for a paused hook and the end of its pause, on PostgreSQL; SQLite writes one
 * transaction after the other. Row locks would not do: those of changes pass an end that waits, which would never come
 * while changes are stored all the time.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';

const hooks: RawBuilder<number> = sql`hashtext(current_schema() || '.paused_hooks')`;

/** Makes the end of the pauses wait for this transaction. The caller then reads again which hooks pause. */
export const holdPauses = async ({ db, dialect }: Tx, hookIds: readonly number[]): Promise<void> => {
  if (dialect.engine === 'sqlite' || hookIds.length === 0) return;
  const ids = hookIds.toSorted((a, b) => a - b);
  await sql`select pg_advisory_xact_lock_shared(${hooks}, id::int)
    from unnest(${ids}::bigint[]) as id`.execute(db);
};

/** Waits for the transactions that hold the pause of a hook; later ones wait, and see that it has ended. */
export const lockPause = async ({ db, dialect }: Tx, hookId: number): Promise<void> => {
  if (dialect.engine === 'sqlite') return;
  await sql`select pg_advisory_xact_lock(${hooks}, ${hookId}::int)`.execute(db);
};
