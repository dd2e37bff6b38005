/** Reads and updates the counters and times in a target's own row, in either table. */
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import { updateRow } from '../../platform/db/update.ts';
import { notFound } from '../../platform/errors.ts';
import type { Change, Noun, Target } from './target.ts';

type Table = 'issues' | 'merge_requests';

const toChanges = ({
  user_notes_count,
  upvotes,
  downvotes,
  time_estimate,
  total_time_spent,
  updated_at,
}: Change) => ({
  set: {
    ...(time_estimate !== undefined && { time_estimate }),
    ...(total_time_spent !== undefined && { total_time_spent }),
  },
  add: {
    ...(user_notes_count !== undefined && { user_notes_count }),
    ...(upvotes !== undefined && { upvotes }),
    ...(downvotes !== undefined && { downvotes }),
  },
  touchedAt: updated_at,
});

/** Makes `times` and `change` of a noun. */
export const ownRow = (table: Table): Pick<Noun, 'times' | 'change'> => ({
  times: async (tx: Tx, { id }: Target) => {
    const { rows } = await sql<Awaited<ReturnType<Noun['times']>>>`
      select time_estimate, total_time_spent, updated_at from ${sql.table(table)}
      where id = ${id} and deleted_at is null ${tx.dialect.forUpdate}`.execute(tx.db);
    const [row] = rows;
    if (row === undefined) throw notFound();
    return row;
  },
  change: async (tx: Tx, { id }: Target, by: Change) => {
    await updateRow(tx.db, table, id, toChanges(by));
  },
});
