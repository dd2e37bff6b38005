import type { Selectable } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { GpgKeysTable, GpgSigningKeysTable } from '../../platform/db/schema/credentials.ts';
import { notFound } from '../../platform/errors.ts';
import { type Page, type PageRequest, withTotal } from '../../platform/http/page.ts';
import type { GpgUser } from './openpgp/certificate.ts';

export type GpgKeyRow = Selectable<GpgKeysTable>;

/** Lists the keys of a user, oldest first. */
export const listGpgKeys = async (
  db: Reader,
  userId: number,
  page: PageRequest,
): Promise<Page<GpgKeyRow>> => {
  const query = db.selectFrom('gpg_keys').where('user_id', '=', userId);
  const rows = await query.selectAll().orderBy('id').limit(page.limit).offset(page.offset).execute();
  return await withTotal(
    page,
    rows,
    async () => await query.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  );
};

/** Loads a key of this user. @throws Failure 404 */
export const findGpgKey = async (db: Reader, userId: number, id: number): Promise<GpgKeyRow> => {
  const row = await db
    .selectFrom('gpg_keys')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) throw notFound('GPG Key');
  return row;
};

/** Returns the names and addresses in a key. */
export const readGpgUsers = ({ users }: Pick<GpgKeyRow, 'users'>): GpgUser[] =>
  JSON.parse(users) as GpgUser[];

export type SigningKeyRow = Selectable<GpgSigningKeysTable> &
  Pick<GpgKeyRow, 'user_id' | 'users' | 'primary_keyid'>;

/** Different keys with one key id are rare, or made to confuse. */
const maxOfKeyid = 5;

/** Finds the keys that may have made a signature. */
export const findSigningKeys = async (db: Reader, keyid: string): Promise<SigningKeyRow[]> =>
  await db
    .selectFrom('gpg_signing_keys')
    .innerJoin('gpg_keys', 'gpg_keys.id', 'gpg_signing_keys.gpg_key_id')
    .selectAll('gpg_signing_keys')
    .select(['gpg_keys.user_id', 'gpg_keys.users', 'gpg_keys.primary_keyid'])
    .where('gpg_signing_keys.keyid', '=', keyid)
    .orderBy('gpg_signing_keys.id')
    .limit(maxOfKeyid)
    .execute();
