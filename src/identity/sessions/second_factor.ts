import type { Reader } from '../../platform/db/open.ts';

/** Returns whether the account requires a second factor. */
export const needsSecondFactor = async (db: Reader, userId: number): Promise<boolean> => {
  const user = await db
    .selectFrom('users')
    .select('two_factor_enabled')
    .where('id', '=', userId)
    .executeTakeFirst();
  return user?.two_factor_enabled === 1;
};
