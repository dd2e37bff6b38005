import type { Tx } from '../db/open.ts';

/**
 * Signs a user out everywhere, and ends what else a password alone has got: sign-ins that wait for the second factor,
 * and tokens that were given for it to no application. For whoever had his password, or is no longer welcome.
 * @param kept the session that stays
 */
export const endSessionsOf = async (tx: Tx, userId: number, kept = 0): Promise<void> => {
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
