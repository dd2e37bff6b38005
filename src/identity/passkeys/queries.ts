import type { Selectable } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { PasskeysTable } from '../../platform/db/schema/credentials.ts';

export type PasskeyRow = Selectable<PasskeysTable>;

/** Passkeys that a user may have. */
export const maxPasskeys = 20;

/** Lists the passkeys of a user, the oldest first. */
export const listPasskeys = async (db: Reader, userId: number): Promise<PasskeyRow[]> =>
  await db
    .selectFrom('passkeys')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('id')
    .limit(maxPasskeys)
    .execute();

/** @param credentialId as the browser sent it */
export const findPasskey = async (db: Reader, credentialId: string): Promise<PasskeyRow | undefined> => {
  // PostgreSQL refuses to search for NUL.
  if (!/^[\w-]+$/.test(credentialId)) return undefined;
  return await db
    .selectFrom('passkeys')
    .selectAll()
    .where('credential_id', '=', credentialId)
    .executeTakeFirst();
};
