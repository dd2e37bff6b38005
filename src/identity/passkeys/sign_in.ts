import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Platform } from '../../core/platform.ts';
import { type Source, recordAudit } from '../../core/access/audit.ts';
import type { Tx } from '../../platform/db/open.ts';
import { unauthorized } from '../../platform/errors.ts';
import { requirePasswordSignIn, requireSignInAllowed } from '../sessions/check_password.ts';
import { getCountedNames } from '../sessions/failure_counts.ts';
import { countFailure, requireFewFailures } from '../sessions/sign_in_failures.ts';
import { type Answerer, createChallenge, isChallenge, useChallenge } from './challenge.ts';
import { type PasskeyRow, findPasskey } from './queries.ts';
import { type RelyingParty, toRelyingParty } from './relying_party.ts';

const toAnswerer = (browserKey: string): Answerer => ({ browserKey, purpose: 'sign_in' });

/**
 * Returns the options with which the browser asks for a passkey of any account: the JSON form of
 * `PublicKeyCredentialRequestOptions`; null: no passkeys at this address.
 */
export const requestOptions = (
  platform: Pick<Platform, 'secrets' | 'random' | 'clock'>,
  baseUrl: string,
  browserKey: string,
): object | null => {
  const party = toRelyingParty(baseUrl);
  if (party === null) return null;
  const challenge = createChallenge(platform, toAnswerer(browserKey));
  return { challenge, rpId: party.rpID, userVerification: 'required' };
};

export type PasskeyAnswer = { response: AuthenticationResponseJSON; browserKey: string };

type Verified = { passkey: PasskeyRow; challenge: string; sign_count: number };

/** Returns the passkey that signed the answer; null if the answer is not right. */
const verify = async (
  platform: Platform,
  { rpID, origin }: RelyingParty,
  { response, browserKey }: PasskeyAnswer,
): Promise<Verified | null> => {
  const passkey = await findPasskey(platform.store.db, response.id);
  if (passkey === undefined) return null;
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  let challenge = '';
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: (expected) => {
        challenge = expected;
        return isChallenge(platform, toAnswerer(browserKey), expected);
      },
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: true,
      credential: {
        id: passkey.credential_id,
        publicKey: Uint8Array.from(Buffer.from(passkey.public_key, 'base64url')),
        counter: passkey.sign_count,
      },
    });
    return verified ? { passkey, challenge, sign_count: authenticationInfo.newCounter } : null;
  } catch {
    // The library throws for each check that fails, and for what it cannot read.
    return null;
  }
};

const recordUse = async (tx: Tx, { passkey, challenge, sign_count }: Verified): Promise<void> => {
  await useChallenge(tx, challenge);
  const { numUpdatedRows } = await tx.db
    .updateTable('passkeys')
    .set({ sign_count, last_used_at: tx.now })
    .where('id', '=', passkey.id)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw unauthorized();
};

/**
 * Returns the user who signed in with a passkey. The device has verified the person, so no second factor is asked.
 * @param baseUrl the address under which browsers reach the service
 * @throws Failure 401 both for a wrong answer and for an unknown passkey, 403 as for a password, 429 with `Retry-After`
 * after too many
 */
export const signInWithPasskey = async (
  platform: Platform,
  source: Source,
  baseUrl: string,
  answer: PasskeyAnswer,
): Promise<number> => {
  requirePasswordSignIn(platform);
  const { store, clock } = platform;
  const names = getCountedNames(source.ip, `passkey ${answer.response.id}`);
  await requireFewFailures(store.db, names, clock.now());
  const party = toRelyingParty(baseUrl);
  const verified = party === null ? null : await verify(platform, party, answer);
  if (verified === null) {
    await store.write(async (tx) => {
      await countFailure(tx, names);
      await recordAudit(tx, null, source, { kind: 'session.failed', details: { factor: 'passkey' } });
    });
    throw unauthorized();
  }
  const { user_id } = verified.passkey;
  await requireSignInAllowed(platform, user_id);
  await store.write(async (tx) => await recordUse(tx, verified));
  return user_id;
};
