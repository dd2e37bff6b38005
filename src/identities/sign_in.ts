import type { Platform } from '../access/call.ts';
import { Failure } from '../errors.ts';
import type { Source } from '../access/audit.ts';
import type { Settings } from '../settings/fields.ts';
import { emailDomainProblem } from '../settings/governed.ts';
import { createUser } from '../users/create.ts';
import { userIdByEmail } from '../users/queries.ts';
import { normalizedEmail } from '../users/rules.ts';
import type { SignInProvider } from '../sign_in_providers.ts';
import { linkIdentity } from './link.ts';
import { freeUsername, shownName } from './names.ts';
import type { Claims } from './oidc.ts';
import { findIdentity, isAddressUnchecked } from './queries.ts';

export type SignInOutcome = { user_id: number } | { refused: string };

type Asked = { platform: Platform; source: Source; provider: SignInProvider; claims: Claims };

const linked = async ({ platform, source, provider, claims }: Asked, id: number): Promise<SignInOutcome> => {
  const account = { provider: provider.name, extern_uid: claims.sub };
  const isHis = await linkIdentity(platform.store, source, id, account);
  return isHis
    ? { user_id: id }
    : { refused: `Your account here is linked with another account at ${provider.label}.` };
};

const newcomerProblem = (settings: Settings, email: string): string | null => {
  if (!settings.signup_enabled) return 'You have no account here, and sign-up is turned off.';
  return emailDomainProblem(settings, email) === null
    ? null
    : 'You have no account here, and your e-mail address may not be used to sign up.';
};

/** An account without a password: he may give it one. */
const created = async (asked: Asked, email: string): Promise<SignInOutcome> => {
  const { platform, claims } = asked;
  const problem = newcomerProblem(platform.settings.current, email);
  if (problem !== null) return { refused: problem };
  const username = await freeUsername(platform.store.db, claims, platform.random);
  const user = { username, email, name: shownName(claims, username), password: null };
  return await linked(asked, await createUser(platform, null, user));
};

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** The address that the provider vouches for. Folded to lower case, the Kelvin sign would make another's of it. */
const verifiedEmail = ({ email, email_verified }: Claims): string | null => {
  if (email === null || !email_verified) return null;
  const address = normalizedEmail(email);
  return isAscii(address) && !isAscii(email) ? null : address;
};

const found = async (asked: Asked): Promise<SignInOutcome> => {
  const { platform, provider, claims } = asked;
  const { db } = platform.store;
  const known = await findIdentity(db, provider.name, claims.sub);
  if (known !== undefined) return { user_id: known.user_id };
  const email = verifiedEmail(claims);
  if (email === null) {
    return {
      refused: `${provider.label} has not verified your e-mail address. Sign in here another way, then link the accounts in your profile.`,
    };
  }
  const id = await userIdByEmail(db, email);
  if (id === undefined) return await created(asked, email);
  // Else somebody could take a stranger's address for his account, and wait for the stranger to move in.
  if (await isAddressUnchecked(db, id)) {
    return {
      refused: `An account here has your e-mail address, but ${provider.label} was never linked with it. Sign in to it here, then link the accounts in your profile.`,
    };
  }
  return await linked(asked, id);
};

/**
 * Whose account here this is: the one linked before; else the one with the address that the provider verified, unless
 * that address is its user's by his own word alone; else, where sign-up is open, a new one.
 */
export const userOfClaims = async (asked: Asked): Promise<SignInOutcome> => {
  try {
    return await found(asked);
  } catch (error) {
    const kind = error instanceof Failure ? error.kind : null;
    if (kind === 'bad_request') {
      return { refused: `What ${asked.provider.label} says of you makes no account here.` };
    }
    // He came twice at once: the other time made the account meanwhile.
    if (kind !== 'conflict' && !asked.platform.store.isUniqueViolation(error)) throw error;
    return await found(asked);
  }
};
