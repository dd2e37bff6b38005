/**
 * Challenges that a passkey signs. They are authenticated instead of stored, so that showing a page writes nothing. One
 * browser may answer each, once, within ten minutes.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { Platform } from '../../core/platform.ts';
import type { Tx } from '../../platform/db/open.ts';
import { unauthorized } from '../../platform/errors.ts';

const goodFor = 10 * 60_000;
const nonceBytes = 16;
const timeBytes = 6;
const macBytes = 32;

type Keys = Pick<Platform, 'secrets'>;

/**
 * Only the browser with this key may answer.
 * @param purpose action that the answer permits: `sign_in`, or `add` with the user's id
 */
export type Answerer = { browserKey: string; purpose: string };

const computeMac = ({ secrets }: Keys, { browserKey, purpose }: Answerer, head: Buffer): Buffer =>
  createHmac('sha256', Buffer.from(secrets.encryption_key, 'hex'))
    .update(`passkey challenge ${purpose} ${browserKey} `)
    .update(head)
    .digest();

/** Returns a new challenge, base64url. */
export const createChallenge = (
  platform: Pick<Platform, 'secrets' | 'random' | 'clock'>,
  answerer: Answerer,
): string => {
  const time = Buffer.alloc(timeBytes);
  time.writeUIntBE(platform.clock.now(), 0, timeBytes);
  const head = Buffer.concat([platform.random(nonceBytes), time]);
  return Buffer.concat([head, computeMac(platform, answerer, head)]).toString('base64url');
};

/** Returns whether we gave the challenge to this browser for this purpose within the last ten minutes. */
export const isChallenge = (
  platform: Pick<Platform, 'secrets' | 'clock'>,
  answerer: Answerer,
  challenge: string,
): boolean => {
  const bytes = Buffer.from(challenge, 'base64url');
  const headBytes = nonceBytes + timeBytes;
  if (bytes.length !== headBytes + macBytes) return false;
  const head = bytes.subarray(0, headBytes);
  const age = platform.clock.now() - head.readUIntBE(nonceBytes, timeBytes);
  return age <= goodFor && timingSafeEqual(computeMac(platform, answerer, head), bytes.subarray(headBytes));
};

/** Marks a challenge as answered. @throws Failure 401 if it was before */
export const useChallenge = async (tx: Tx, challenge: string): Promise<void> => {
  await tx.db
    .deleteFrom('answered_challenges')
    .where('answered_at', '<', tx.now - 2 * goodFor)
    .execute();
  const bytes = Buffer.from(challenge, 'base64url');
  const { numInsertedOrUpdatedRows = 0n } = await tx.db
    .insertInto('answered_challenges')
    .values({ challenge_hash: hash('sha256', bytes), answered_at: tx.now })
    .onConflict((clash) => clash.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) throw unauthorized();
};
