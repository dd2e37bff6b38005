import type { Reader } from '../db/open.ts';

/** Whether a password alone does not open this account. */
export const needsSecondFactor = async (db: Reader, userId: number): Promise<boolean> => {
  const user = await db
    .selectFrom('users')
    .select('two_factor_enabled')
    .where('id', '=', userId)
    .executeTakeFirst();
  return user?.two_factor_enabled === 1;
};
