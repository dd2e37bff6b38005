/** The addresses of users beside that of the account, as far as accounts depend on them. */
import type { Reader, Tx } from '../../../platform/db/open.ts';

/** Milliseconds for which an address that nobody confirms is kept from others. */
export const confirmationTime = 3 * 86_400_000;

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

/** Loads all confirmed addresses of a user, in lower case. */
export const loadConfirmedAddresses = async (
  db: Reader,
  user: { id: number; email: string; email_unchecked: number },
): Promise<string[]> => [
  ...(user.email_unchecked === 0 ? [user.email.toLowerCase()] : []),
  ...(await loadFurtherAddresses(db, user.id)),
];

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
  const row = await tx.db
    .selectFrom('emails')
    .select(['id', 'user_id', 'confirmed_at'])
    .where('email', '=', email)
    .executeTakeFirst();
  if (row === undefined) return 'free';
  const isConfirmed = row.confirmed_at !== null;
  if (isConfirmed && row.user_id !== userId) return 'taken';
  await tx.db.deleteFrom('emails').where('id', '=', row.id).execute();
  return isConfirmed ? 'own' : 'free';
};
