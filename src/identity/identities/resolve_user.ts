import type { Platform } from '../../core/platform.ts';
import { Failure } from '../../platform/errors.ts';
import type { Source } from '../../core/access/audit.ts';
import type { Settings } from '../../core/settings/fields.ts';
import { findEmailDomainProblem } from '../../core/settings/setting_effects.ts';
import { createUser } from '../users/create.ts';
import { findByConfirmedAddress } from '../users/addresses/further_addresses.ts';
import { userIdByEmail } from '../users/queries.ts';
import { normalizedEmail } from '../users/rules.ts';
import type { SignInProvider } from '../../platform/config/sign_in_providers.ts';
import { linkIdentity } from './link_identity.ts';
import { findFreeUsername, getDisplayName } from './find_free_username.ts';
import type { Claims } from './oidc.ts';
import { findIdentity } from './queries.ts';

export type SignInOutcome = { user_id: number } | { refused: string };

type SignInAttempt = { platform: Platform; source: Source; provider: SignInProvider; claims: Claims };

const signInLinked = async (
  { platform, source, provider, claims }: SignInAttempt,
  id: number,
): Promise<SignInOutcome> => {
  const account = { provider: provider.name, extern_uid: claims.sub };
  const isHis = await linkIdentity(platform.store, source, id, account);
  return isHis
    ? { user_id: id }
    : { refused: `Your account here is linked with another account at ${provider.label}.` };
};

const newcomerProblem = (settings: Settings, email: string): string | null => {
  if (!settings.signup_enabled) return 'You have no account here, and sign-up is turned off.';
  return findEmailDomainProblem(settings, email) === null
    ? null
    : 'You have no account here, and your e-mail address may not be used to sign up.';
};

/** Creates an account without a password. The user may set one later. */
const createUserFor = async (attempt: SignInAttempt, email: string): Promise<SignInOutcome> => {
  const { platform, claims } = attempt;
  const problem = newcomerProblem(platform.settings.current, email);
  if (problem !== null) return { refused: problem };
  const username = await findFreeUsername(platform.store.db, claims, platform.random);
  const user = { username, email, name: getDisplayName(claims, username), password: null };
  return await signInLinked(attempt, await createUser(platform, null, user));
};

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/**
 * Returns the verified address; null: none. Only ASCII, for lower-casing other letters could turn one address into
 * another.
 */
const verifiedEmail = ({ email, email_verified }: Claims): string | null => {
  if (email === null || !email_verified) return null;
  const address = normalizedEmail(email);
  return isAscii(address) && !isAscii(email) ? null : address;
};

const findUser = async (attempt: SignInAttempt): Promise<SignInOutcome> => {
  const { platform, provider, claims } = attempt;
  const { db } = platform.store;
  const existing = await findIdentity(db, provider.name, claims.sub);
  if (existing !== undefined) return { user_id: existing.user_id };
  const email = verifiedEmail(claims);
  if (email === null) {
    return {
      refused: `${provider.label} has not verified your e-mail address. Sign in here another way, then link the accounts in your profile.`,
    };
  }
  const id = (await findByConfirmedAddress(db, [email])).get(email);
  if (id !== undefined) return await signInLinked(attempt, id);
  if ((await userIdByEmail(db, email)) === undefined) return await createUserFor(attempt, email);
  // Otherwise an attacker could register a stranger's address and wait for the stranger's first sign-in.
  return {
    refused: `An account here has your e-mail address, but ${provider.label} was never linked with it. Sign in to it here, then link the accounts in your profile.`,
  };
};

/**
 * Returns the user for a provider's claims: the linked user; otherwise the user with the verified address (primary or
 * confirmed secondary), unless that user's address was never verified; otherwise, if sign-up is open, a new user.
 */
export const resolveUser = async (attempt: SignInAttempt): Promise<SignInOutcome> => {
  try {
    return await findUser(attempt);
  } catch (error) {
    const kind = error instanceof Failure ? error.kind : null;
    if (kind === 'bad_request') {
      return { refused: `What ${attempt.provider.label} reports about you does not allow an account here.` };
    }
    // A concurrent sign-in of the same person has just created the account.
    if (kind !== 'conflict' && !attempt.platform.store.isUniqueViolation(error)) throw error;
    return await findUser(attempt);
  }
};
