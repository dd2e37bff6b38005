import { sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import { conflict } from '../../platform/errors.ts';
import type { UserRow } from './queries.ts';

/**
 * Refuses changes that would leave the service without an active administrator. Locks all administrators, so that if
 * two resign concurrently, one keeps the role.
 * @param user the user who loses the role or is blocked or deleted
 * @throws Failure 409
 */
export const requireOtherAdmin = async (
  tx: Tx,
  user: Pick<UserRow, 'id' | 'admin' | 'state'>,
): Promise<void> => {
  if (user.admin === 0 || user.state !== 'active') return;
  const { rows } = await sql<{ id: number }>`select id from users
    where admin = 1 and state = 'active' and ghost = 0 order by id ${tx.dialect.forUpdate}`.execute(tx.db);
  if (rows.every(({ id }) => id === user.id)) throw conflict('The last active administrator must remain one');
};
