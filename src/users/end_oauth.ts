import type { Tx } from '../db/open.ts';

/** Takes back what a user gave to applications: for one who is no longer welcome. */
export const endOauthOf = async (tx: Tx, userId: number): Promise<void> => {
  await tx.db.deleteFrom('oauth_grants').where('user_id', '=', userId).execute();
  await tx.db
    .updateTable('tokens')
    .set({ revoked: 1 })
    .where('user_id', '=', userId)
    .where('kind', '=', 'oauth')
    .where('revoked', '=', 0)
    .execute();
};
