import type { Reader } from '../db/open.ts';

export type Identity = { id: number; user_id: number; provider: string; extern_uid: string };

const identities = (db: Reader) =>
  db.selectFrom('user_identities').select(['id', 'user_id', 'provider', 'extern_uid']);

/** Whose account at a provider this is. */
export const findIdentity = async (
  db: Reader,
  provider: string,
  extern_uid: string,
): Promise<Identity | undefined> =>
  await identities(db)
    .where('provider', '=', provider)
    .where('extern_uid', '=', extern_uid)
    .executeTakeFirst();

/** Whether nobody but this user himself says that his address is his. */
export const isAddressUnchecked = async (db: Reader, userId: number): Promise<boolean> => {
  const user = await db
    .selectFrom('users')
    .select('email_unchecked')
    .where('id', '=', userId)
    .executeTakeFirst();
  return user?.email_unchecked === 1;
};

/** At most one a provider. */
export const identitiesOf = async (db: Reader, userId: number): Promise<Identity[]> =>
  await identities(db).where('user_id', '=', userId).orderBy('provider').execute();
