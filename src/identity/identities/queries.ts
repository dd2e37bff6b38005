import type { Reader } from '../../platform/db/open.ts';

export type Identity = { id: number; user_id: number; provider: string; extern_uid: string };

const identities = (db: Reader) =>
  db.selectFrom('user_identities').select(['id', 'user_id', 'provider', 'extern_uid']);

/** Loads the link to an account at a provider, if any. */
export const findIdentity = async (
  db: Reader,
  provider: string,
  extern_uid: string,
): Promise<Identity | undefined> =>
  await identities(db)
    .where('provider', '=', provider)
    .where('extern_uid', '=', extern_uid)
    .executeTakeFirst();

/** Lists a user's linked accounts, at most one per provider. */
export const listIdentities = async (db: Reader, userId: number): Promise<Identity[]> =>
  await identities(db).where('user_id', '=', userId).orderBy('provider').execute();
