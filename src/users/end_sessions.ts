import type { Tx } from '../db/open.ts';

/** Signs a user out everywhere: for whoever had his password, or is no longer welcome. */
export const endSessionsOf = async (tx: Tx, userId: number): Promise<void> => {
  await tx.db.deleteFrom('sessions').where('user_id', '=', userId).execute();
};
