import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { type Call, requireActor } from '../../core/access/call.ts';
import { recordAudit } from '../../core/access/audit.ts';
import { notifyOfSecurityChange } from '../../core/mail/notify_of_security_change.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import { insertRow } from '../../platform/db/insert.ts';
import { confirmPassword } from '../sessions/confirm_password.ts';
import { lockUser } from '../users/queries.ts';
import { type Answerer, createChallenge, isChallenge, useChallenge } from './challenge.ts';
import { listPasskeys, maxPasskeys } from './queries.ts';
import { type RelyingParty, toRelyingParty } from './relying_party.ts';

/** Algorithms of keys that we ask for and verify: Ed25519, ECDSA and RSA, by their COSE numbers. */
const algorithms = [-8, -7, -257];

const toAnswerer = (call: Call, browserKey: string): Answerer => ({
  browserKey,
  purpose: `add ${requireActor(call).user.id}`,
});

const partyOf = (call: Call): RelyingParty => {
  const party = toRelyingParty(call.baseUrl);
  if (party === null) throw invalid({ passkey: ['needs an encrypted address with a name'] });
  return party;
};

/**
 * Returns the options with which the browser makes a passkey for the caller: the JSON form of
 * `PublicKeyCredentialCreationOptions`.
 */
export const creationOptions = async (call: Call, browserKey: string): Promise<object> => {
  const { user } = requireActor(call);
  const { rpID } = partyOf(call);
  const passkeys = await listPasskeys(call.db, user.id);
  return {
    rp: { id: rpID, name: 'Gantry' },
    user: {
      id: Buffer.from(String(user.id)).toString('base64url'),
      name: user.username,
      displayName: user.name,
    },
    challenge: createChallenge(call.platform, toAnswerer(call, browserKey)),
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
    excludeCredentials: passkeys.map(({ credential_id }) => ({ type: 'public-key', id: credential_id })),
  };
};

type Answer = { response: RegistrationResponseJSON; browserKey: string };

/** Verifies what the authenticator made. @throws Failure 400 under `passkey` */
const verify = async (call: Call, { response, browserKey }: Answer) => {
  const { rpID, origin } = partyOf(call);
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  let challenge = '';
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: (expected) => {
        challenge = expected;
        return isChallenge(call.platform, toAnswerer(call, browserKey), expected);
      },
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (verified) return { ...registrationInfo.credential, challenge };
  } catch {
    // The library throws for each check that fails, and for what it cannot read.
  }
  throw invalid({ passkey: ['could not be verified. Try again'] });
};

export type NewPasskey = Answer & { name: string; current_password: string };

/**
 * Adds a passkey to the caller's account.
 * @throws Failure 400 under `name`, `current_password` or `passkey`
 */
export const addPasskey = async (call: Call, passkey: NewPasskey): Promise<void> => {
  const actor = requireActor(call);
  const name = passkey.name.trim();
  if (name === '') throw invalid({ name: ["can't be blank"] });
  await confirmPassword(call, passkey.current_password);
  const { id, publicKey, counter, transports = [], challenge } = await verify(call, passkey);
  await call.write(async (tx) => {
    await lockUser(tx, actor.user.id);
    await useChallenge(tx, challenge);
    if ((await listPasskeys(tx.db, actor.user.id)).length >= maxPasskeys)
      throw invalid({ passkey: [`cannot be added: an account has at most ${maxPasskeys}`] });
    const taken = await tx.db
      .selectFrom('passkeys')
      .select('id')
      .where('credential_id', '=', id)
      .executeTakeFirst();
    if (taken !== undefined) throw invalid({ passkey: ['has already been added'] });
    const row = await insertRow(tx.db, 'passkeys', {
      user_id: actor.user.id,
      name,
      credential_id: id,
      public_key: Buffer.from(publicKey).toString('base64url'),
      sign_count: counter,
      transports: JSON.stringify(transports),
      created_at: tx.now,
      last_used_at: null,
    });
    const target = { target_type: 'Passkey', target_id: row };
    await recordAudit(tx, actor, call, { kind: 'passkey.created', ...target, details: { name } });
    await notifyOfSecurityChange(call.platform, tx, actor.user.id, 'account.passkey_added');
  });
};

/** Removes a passkey of the caller. @throws Failure 404 */
export const removePasskey = async (call: Call, id: number): Promise<string> => {
  const actor = requireActor(call);
  return await call.write(async (tx) => {
    const removed = await tx.db
      .deleteFrom('passkeys')
      .where('id', '=', id)
      .where('user_id', '=', actor.user.id)
      .returning('name')
      .executeTakeFirst();
    if (removed === undefined) throw notFound();
    const details = { name: removed.name };
    await recordAudit(tx, actor, call, {
      kind: 'passkey.deleted',
      target_type: 'Passkey',
      target_id: id,
      details,
    });
    return removed.name;
  });
};
