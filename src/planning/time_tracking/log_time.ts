import type { Tx } from '../../platform/db/open.ts';
import type { Target } from '../issuables/target.ts';

/** An entry of time spent. */
export type Spending = {
  /** Negative to subtract. */
  seconds: number;
  /** What the time was spent on. */
  summary?: string;
  /** `YYYY-MM-DD`; null: today. */
  spent_on?: string | null;
};

/** Stores one entry of time spent. */
export const logTime = async (
  tx: Tx,
  { type, id }: Pick<Target, 'type' | 'id'>,
  userId: number,
  { seconds, summary = '', spent_on = null }: Spending,
): Promise<void> => {
  await tx.db
    .insertInto('timelogs')
    .values({
      target_type: type,
      target_id: id,
      user_id: userId,
      time_spent: seconds,
      summary,
      spent_on,
      created_at: tx.now,
    })
    .execute();
};
