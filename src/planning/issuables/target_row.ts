/** Reads and updates the counters and times in a target's own row, in either table. */
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import type { Change, Noun, Target } from './target.ts';

type Table = 'issues' | 'merge_requests';

const toColumnUpdates = (by: Change) => ({
  ...(by.user_notes_count !== undefined && {
    user_notes_count: sql<number>`user_notes_count + ${by.user_notes_count}`,
  }),
  ...(by.upvotes !== undefined && { upvotes: sql<number>`upvotes + ${by.upvotes}` }),
  ...(by.downvotes !== undefined && { downvotes: sql<number>`downvotes + ${by.downvotes}` }),
  ...(by.time_estimate !== undefined && { time_estimate: by.time_estimate }),
  ...(by.total_time_spent !== undefined && { total_time_spent: by.total_time_spent }),
  ...(by.updated_at !== undefined && {
    // `updated_at` never goes back, even if the clock does.
    updated_at: sql<number>`case when updated_at < ${by.updated_at} then ${by.updated_at} else updated_at + 1 end`,
  }),
});

/** Makes `times` and `change` of a noun. */
export const ownRow = (table: Table): Pick<Noun, 'times' | 'change'> => ({
  times: async (tx: Tx, { id }: Target) => {
    const { rows } = await sql<{ time_estimate: number; total_time_spent: number }>`
      select time_estimate, total_time_spent from ${sql.table(table)}
      where id = ${id} and deleted_at is null ${tx.dialect.forUpdate}`.execute(tx.db);
    const [row] = rows;
    if (row === undefined) throw notFound();
    return row;
  },
  change: async (tx: Tx, { id }: Target, by: Change) => {
    await tx.db.updateTable(table).set(toColumnUpdates(by)).where('id', '=', id).execute();
  },
});
