import type { Reader } from '../../../platform/db/open.ts';
import type { UserStatusesTable } from '../../../platform/db/schema/identity.ts';

/** Loads the status of a user; undefined: none, or its time is over. */
export const loadUserStatus = async (
  { db, now }: { db: Reader; now: number },
  userId: number,
): Promise<UserStatusesTable | undefined> => {
  const row = await db
    .selectFrom('user_statuses')
    .selectAll()
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined && (row.clear_at === null || row.clear_at > now) ? row : undefined;
};
