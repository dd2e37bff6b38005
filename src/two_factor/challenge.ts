/** Between the password and the second factor: a question that one browser may answer, for a while. */
import type { Platform } from '../access/call.ts';
import { hashToken } from '../access/token_text.ts';
import type { Tx } from '../db/open.ts';
import { unauthorized } from '../errors.ts';
import { type Source, recordAudit } from '../access/audit.ts';
import { countedNames } from '../sessions/attempts.ts';
import { countFailure, requireFewFailures } from '../sessions/failures.ts';
import { lockUser } from '../users/queries.ts';
import { loadTotp } from './totp.ts';
import { useFactor } from './verify.ts';

const goodFor = 10 * 60_000;

type Asked = { user_id: number; provider: string | null };

/** Who brings the secret of a form from another browser than it was given to has another hash. */
const hashFor = (browserKey: string, secret: string): string => hashToken(`${browserKey}.${secret}`);

/**
 * @param browserKey a secret of the browser that gave the password, which alone may answer
 * @returns what the form that asks for the code carries; it is kept nowhere
 */
export const askForFactor = async (
  { store, random }: Platform,
  browserKey: string,
  asked: Asked,
): Promise<string> => {
  const secret = random(32).toString('base64url');
  await store.write(async (tx) => {
    await tx.db
      .deleteFrom('sign_in_challenges')
      .where('created_at', '<', tx.now - goodFor)
      .execute();
    const row = { ...asked, token_hash: hashFor(browserKey, secret), created_at: tx.now };
    await tx.db.insertInto('sign_in_challenges').values(row).execute();
  });
  return secret;
};

const findChallenge = async (tx: Tx, token_hash: string): Promise<Asked | undefined> =>
  await tx.db
    .selectFrom('sign_in_challenges')
    .select(['user_id', 'provider'])
    .where('token_hash', '=', token_hash)
    .where('created_at', '>=', tx.now - goodFor)
    .executeTakeFirst();

const accountOf = ({ user_id }: Asked): string => `second factor of ${user_id}`;

/** A code that was wrong counts as a sign-in that failed, for the address alone and with the account. */
const namesOf = ({ ip }: Source, asked: Asked): string[] => countedNames(ip, accountOf(asked));

/**
 * It counts for the account alone, too, and for longer: who guesses has the password already, and a million codes are
 * few for many addresses. Nobody else can shut the user out by that.
 */
const accountWindow = 3_600_000;

const noteFailure = async (tx: Tx, source: Source, asked: Asked): Promise<void> => {
  await countFailure(tx, namesOf(source, asked));
  await countFailure(tx, [accountOf(asked)], accountWindow);
  const target = { target_type: 'User', target_id: asked.user_id };
  await recordAudit(tx, null, source, { kind: 'session.failed', ...target, details: { factor: 'second' } });
};

/**
 * Who proved by a code that he is the one who was asked; the question is then over.
 * @returns null where nobody was asked, too long ago, or in another browser: the sign-in starts over
 * @throws Failure 401 for a wrong code, 429 with `Retry-After` after too many
 */
export const answerChallenge = async (
  platform: Platform,
  source: Source,
  { browserKey, challenge, code }: { browserKey: string; challenge: string; code: string },
): Promise<Asked | null> => {
  const token_hash = hashFor(browserKey, challenge);
  const totp = await loadTotp();
  const outcome = await platform.store.write(async (tx) => {
    const asked = await findChallenge(tx, token_hash);
    if (asked === undefined) return null;
    // One after another: guesses sent at once are counted as if sent in turn.
    await lockUser(tx, asked.user_id);
    await requireFewFailures(tx.db, [...namesOf(source, asked), accountOf(asked)], tx.now);
    const factor = await useFactor(tx, { platform, totp }, asked.user_id, code);
    if (factor === null) {
      await noteFailure(tx, source, asked);
      return 'wrong';
    }
    await tx.db.deleteFrom('sign_in_challenges').where('token_hash', '=', token_hash).execute();
    return asked;
  });
  if (outcome === 'wrong') throw unauthorized();
  return outcome;
};
