import type { Tx } from '../../platform/db/open.ts';

/** Revokes all OAuth authorizations of a blocked or deleted user. */
export const revokeOauth = async (tx: Tx, userId: number): Promise<void> => {
  await tx.db.deleteFrom('oauth_grants').where('user_id', '=', userId).execute();
  await tx.db
    .updateTable('tokens')
    .set({ revoked: 1 })
    .where('user_id', '=', userId)
    .where('kind', '=', 'oauth')
    .where('revoked', '=', 0)
    .execute();
};
