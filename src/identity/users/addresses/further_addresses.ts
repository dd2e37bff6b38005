/** Secondary addresses of users, for code that depends on accounts. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { dayMilliseconds } from '../../../platform/time.ts';

/** Milliseconds for which an address that nobody confirms is kept from others. */
export const confirmationTime = 3 * dayMilliseconds;

/** Loads the confirmed further addresses of a user. */
export const loadFurtherAddresses = async (db: Reader, userId: number): Promise<string[]> => {
  const rows = await db
    .selectFrom('emails')
    .select('email')
    .where('user_id', '=', userId)
    .where('confirmed_at', 'is not', null)
    .execute();
  return rows.map(({ email }) => email);
};

/** Finds a confirmed further address of a user by its id. */
export const findConfirmedAddress = async (
  db: Reader,
  userId: number,
  id: number,
): Promise<{ email: string } | undefined> =>
  await db
    .selectFrom('emails')
    .select('email')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst();

/** Loads all confirmed addresses of a user, in lower case. */
export const loadConfirmedAddresses = async (
  db: Reader,
  user: { id: number; email: string; email_unchecked: number },
): Promise<string[]> => [
  ...(user.email_unchecked === 0 ? [user.email.toLowerCase()] : []),
  ...(await loadFurtherAddresses(db, user.id)),
];

/** As `loadConfirmedAddresses`, by the id of the user. */
export const loadConfirmedAddressesById = async (db: Reader, id: number): Promise<string[]> => {
  const user = await db
    .selectFrom('users')
    .select(['id', 'email', 'email_unchecked'])
    .where('id', '=', id)
    .executeTakeFirst();
  return user === undefined ? [] : await loadConfirmedAddresses(db, user);
};

/** SQL over `users`: this (normalized) address is the primary address or a confirmed secondary address. */
export const hasAddress = (address: string): RawBuilder<boolean> =>
  sql<boolean>`users.id in (select id from users where lower(email) = ${address}
    union all select user_id from emails where email = ${address} and confirmed_at is not null)`;

/** Finds accounts by confirmed (normalized) secondary address. */
export const findByConfirmedAddress = async (
  db: Reader,
  addresses: readonly string[],
): Promise<Map<string, number>> => {
  if (addresses.length === 0) return new Map();
  const some = sql.join(addresses.map((address) => sql`${address}`));
  const { rows } = await sql<{ id: number; email: string }>`
    select id, lower(email) as email from users
      where lower(email) in (${some}) and email_unchecked = 0 and ghost = 0
    union all select user_id, email from emails where email in (${some}) and confirmed_at is not null`.execute(
    db,
  );
  return new Map(rows.map(({ id, email }) => [email, id]));
};

/**
 * Takes an address for an account. Nobody proved an unconfirmed further address, so that it stops nobody.
 * @param userId null: a new account
 * @returns `taken`: a confirmed one of another user; `own`: it was a confirmed one of this user
 */
export const takeAddress = async (
  tx: Tx,
  email: string,
  userId: number | null,
): Promise<'taken' | 'own' | 'free'> => {
  // First, because it waits for a confirmation that another transaction is about to commit.
  const removed = await tx.db
    .deleteFrom('emails')
    .where('email', '=', email)
    .where((is) => is.or([is('confirmed_at', 'is', null), is('user_id', '=', userId ?? 0)]))
    .returning('confirmed_at')
    .executeTakeFirst();
  if (removed !== undefined) return removed.confirmed_at === null ? 'free' : 'own';
  const row = await tx.db.selectFrom('emails').select('id').where('email', '=', email).executeTakeFirst();
  return row === undefined ? 'free' : 'taken';
};
