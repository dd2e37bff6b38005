import { sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import { selectBot } from './is_bot.ts';

/**
 * When a bot's token is replaced, makes its role end with the new token. Does nothing for other users, or if the role
 * ends on another day than the old token. Days are `YYYY-MM-DD`; null: no last day.
 */
export const changeRoleExpiry = async (
  { db }: Tx,
  userId: number,
  { from, to }: { from: string | null; to: string | null },
): Promise<void> => {
  await sql`update members set expires_at = ${to} where user_id = ${userId}
    and coalesce(expires_at, '') = ${from ?? ''} and exists ${selectBot(sql.ref('members.user_id'))}`.execute(
    db,
  );
};
