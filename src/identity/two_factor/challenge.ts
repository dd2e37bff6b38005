/** The challenge between the password and the second factor. One browser may answer it, for ten minutes. */
import type { Platform } from '../../core/platform.ts';
import { hashToken } from '../../core/access/credentials/token_text.ts';
import type { Tx } from '../../platform/db/open.ts';
import { unauthorized } from '../../platform/errors.ts';
import { type Source, recordAudit } from '../../core/access/audit.ts';
import { hourMilliseconds } from '../../platform/time.ts';
import { getCountedNames } from '../sessions/failure_counts.ts';
import { countFailure, requireFewFailures } from '../sessions/sign_in_failures.ts';
import { lockUser } from '../users/queries.ts';
import { loadTotp } from './totp.ts';
import { useFactor } from './verify_code.ts';

const goodFor = 10 * 60_000;

type Challenge = { user_id: number; provider: string | null };

/** Hashes the form's secret with the browser's key, so that another browser cannot use it. */
const hashFor = (browserKey: string, secret: string): string => hashToken(`${browserKey}.${secret}`);

/**
 * Creates a challenge for the second factor.
 * @param browserKey a secret of the browser that sent the password; only this browser may answer
 * @returns the secret for the form; only its hash is stored
 */
export const createChallenge = async (
  { store, random }: Platform,
  browserKey: string,
  challenge: Challenge,
): Promise<string> => {
  const secret = random(32).toString('base64url');
  await store.write(async (tx) => {
    await tx.db
      .deleteFrom('sign_in_challenges')
      .where('created_at', '<', tx.now - goodFor)
      .execute();
    const row = { ...challenge, token_hash: hashFor(browserKey, secret), created_at: tx.now };
    await tx.db.insertInto('sign_in_challenges').values(row).execute();
  });
  return secret;
};

const findChallenge = async (tx: Tx, token_hash: string): Promise<Challenge | undefined> =>
  await tx.db
    .selectFrom('sign_in_challenges')
    .select(['user_id', 'provider'])
    .where('token_hash', '=', token_hash)
    .where('created_at', '>=', tx.now - goodFor)
    .executeTakeFirst();

const accountName = ({ user_id }: Challenge): string => `second factor of ${user_id}`;

/** Returns the names under which a wrong code counts: only the address, and the address with the account. */
const namesToCount = ({ ip }: Source, challenge: Challenge): string[] =>
  getCountedNames(ip, accountName(challenge));

/**
 * Window in which wrong codes also count for the account regardless of address. An attacker who has the password could
 * use many addresses to try a million codes. Nobody without the password can lock the user out.
 */
const accountWindow = hourMilliseconds;

const noteFailure = async (tx: Tx, source: Source, challenge: Challenge): Promise<void> => {
  await countFailure(tx, namesToCount(source, challenge));
  await countFailure(tx, [accountName(challenge)], { window: accountWindow });
  const target = { target_type: 'User', target_id: challenge.user_id };
  await recordAudit(tx, null, source, { kind: 'session.failed', ...target, details: { factor: 'second' } });
};

/**
 * Returns the user who proved the second factor, and deletes the challenge.
 * @returns null for a missing, expired or foreign challenge: the sign-in starts over
 * @throws Failure 401 for a wrong code, 429 with `Retry-After` after too many
 */
export const answerChallenge = async (
  platform: Platform,
  source: Source,
  { browserKey, challenge, code }: { browserKey: string; challenge: string; code: string },
): Promise<Challenge | null> => {
  const token_hash = hashFor(browserKey, challenge);
  const totp = await loadTotp();
  const outcome = await platform.store.write(async (tx) => {
    const challenge = await findChallenge(tx, token_hash);
    if (challenge === undefined) return null;
    // Serialized, so that concurrent guesses count like sequential guesses.
    await lockUser(tx, challenge.user_id);
    await requireFewFailures(tx.db, [...namesToCount(source, challenge), accountName(challenge)], tx.now);
    const factor = await useFactor(tx, { platform, totp }, challenge.user_id, code);
    if (factor === null) {
      await noteFailure(tx, source, challenge);
      return 'wrong';
    }
    await tx.db.deleteFrom('sign_in_challenges').where('token_hash', '=', token_hash).execute();
    return challenge;
  });
  if (outcome === 'wrong') throw unauthorized();
  return outcome;
};
