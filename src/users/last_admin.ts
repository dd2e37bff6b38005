import { sql } from 'kysely';
import type { Tx } from '../db/open.ts';
import { conflict } from '../errors.ts';
import type { UserRow } from './queries.ts';

/**
 * Refuses what would leave the service without an active administrator. Administrators are locked first, so that of
 * two who give up the role at once one keeps it.
 * @param user about to lose the role, to be blocked or deleted
 * @throws Failure 409
 */
export const requireOtherAdmin = async (
  tx: Tx,
  user: Pick<UserRow, 'id' | 'admin' | 'state'>,
): Promise<void> => {
  if (user.admin === 0 || user.state !== 'active') return;
  const { rows } = await sql<{ id: number }>`select id from users
    where admin = 1 and state = 'active' and ghost = 0 order by id ${tx.words.forUpdate}`.execute(tx.db);
  if (rows.every(({ id }) => id === user.id)) throw conflict('The last active administrator must remain one');
};
