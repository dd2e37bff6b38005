import type { Tx } from '../../platform/db/open.ts';

/**
 * Ends all sessions of a user and all other access granted by the password: pending challenges, and tokens of the
 * password grant without an application. Used when the password changes or the user is blocked.
 * @param kept id of the session to keep
 */
export const endAllSessions = async (tx: Tx, userId: number, kept = 0): Promise<void> => {
  await tx.db.deleteFrom('sessions').where('user_id', '=', userId).where('id', '<>', kept).execute();
  await tx.db.deleteFrom('sign_in_challenges').where('user_id', '=', userId).execute();
  await tx.db
    .updateTable('tokens')
    .set({ revoked: 1 })
    .where('user_id', '=', userId)
    .where('kind', '=', 'oauth')
    .where('application_id', 'is', null)
    .where('revoked', '=', 0)
    .execute();
};
