/** Recovery codes: for who has lost the authenticator. Each is good once. */
import { createHmac } from 'node:crypto';
import type { Secrets } from '../access/call.ts';
import { insertRows } from '../db/insert.ts';
import type { Reader, Tx } from '../db/open.ts';

const codesAtOnce = 10;
/** 50 random bits in base32: short enough to write down, too many to guess where failures are counted. */
const codeCharacters = 10;
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

const newCode = (random: (bytes: number) => Buffer): string => {
  const letters = [...random(codeCharacters)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return `${letters.slice(0, 5)}-${letters.slice(5)}`;
};

export const newCodes = (random: (bytes: number) => Buffer): string[] =>
  Array.from({ length: codesAtOnce }, () => newCode(random));

/**
 * Under a key that is not in the database: whoever has a copy of it could try all codes in a day. Without the user's
 * id, the same code of two users would show in the table.
 */
const hashOf = ({ encryption_key }: Secrets, userId: number, code: string): string =>
  createHmac('sha256', Buffer.from(encryption_key, 'hex'))
    .update(`recovery code ${userId} ${code.toLowerCase().replaceAll(/[^a-z2-7]/g, '')}`)
    .digest('hex');

/** Replaces those that the user had. */
export const storeCodes = async (
  tx: Tx,
  secrets: Secrets,
  user_id: number,
  codes: readonly string[],
): Promise<void> => {
  await tx.db.deleteFrom('recovery_codes').where('user_id', '=', user_id).execute();
  const rows = codes.map((code) => ({ user_id, code_hash: hashOf(secrets, user_id, code) }));
  await insertRows(tx.db, 'recovery_codes', rows);
};

/** Uses a code up; whether it was one. */
export const useCode = async (tx: Tx, secrets: Secrets, userId: number, code: string): Promise<boolean> => {
  const { numDeletedRows } = await tx.db
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('code_hash', '=', hashOf(secrets, userId, code))
    .executeTakeFirst();
  return numDeletedRows > 0n;
};

export const codesLeft = async (db: Reader, userId: number): Promise<number> => {
  const { left } = await db
    .selectFrom('recovery_codes')
    .select((one) => one.fn.countAll<number>().as('left'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return left;
};
