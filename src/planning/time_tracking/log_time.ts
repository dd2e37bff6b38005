import type { Tx } from '../../platform/db/open.ts';
import type { Target } from '../issuables/target.ts';

/** Stores one entry of time spent, in seconds; negative to subtract. */
export const logTime = async (
  tx: Tx,
  { type, id }: Pick<Target, 'type' | 'id'>,
  userId: number,
  seconds: number,
): Promise<void> => {
  await tx.db
    .insertInto('timelogs')
    .values({ target_type: type, target_id: id, user_id: userId, time_spent: seconds, created_at: tx.now })
    .execute();
};
