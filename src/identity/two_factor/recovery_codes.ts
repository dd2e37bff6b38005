/** Recovery codes for users who lost the authenticator. Each works once. */
import { createHmac } from 'node:crypto';
import type { Secrets } from '../../core/platform.ts';
import { insertRows } from '../../platform/db/insert.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';

const codesAtOnce = 10;
/** 50 random bits in base32: short enough to write down, and too many to guess with rate limits. */
const codeCharacters = 10;
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

const newCode = (random: (bytes: number) => Buffer): string => {
  const letters = [...random(codeCharacters)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return `${letters.slice(0, 5)}-${letters.slice(5)}`;
};

export const newCodes = (random: (bytes: number) => Buffer): string[] =>
  Array.from({ length: codesAtOnce }, () => newCode(random));

/**
 * Hashes a code with a key outside the database, because a copy of the database would allow trying all codes in a day.
 * The user's id makes equal codes of two users differ.
 */
const hashCode = ({ encryption_key }: Secrets, userId: number, code: string): string =>
  createHmac('sha256', Buffer.from(encryption_key, 'hex'))
    .update(`recovery code ${userId} ${code.toLowerCase().replaceAll(/[^a-z2-7]/g, '')}`)
    .digest('hex');

/** Replaces the user's codes. */
export const storeCodes = async (
  tx: Tx,
  secrets: Secrets,
  user_id: number,
  codes: readonly string[],
): Promise<void> => {
  await tx.db.deleteFrom('recovery_codes').where('user_id', '=', user_id).execute();
  const rows = codes.map((code) => ({ user_id, code_hash: hashCode(secrets, user_id, code) }));
  await insertRows(tx.db, 'recovery_codes', rows);
};

/** Uses up a code and returns whether it was valid. */
export const useCode = async (tx: Tx, secrets: Secrets, userId: number, code: string): Promise<boolean> => {
  const { numDeletedRows } = await tx.db
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('code_hash', '=', hashCode(secrets, userId, code))
    .executeTakeFirst();
  return numDeletedRows > 0n;
};

export const countCodes = async (db: Reader, userId: number): Promise<number> => {
  const { left } = await db
    .selectFrom('recovery_codes')
    .select((one) => one.fn.countAll<number>().as('left'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return left;
};
