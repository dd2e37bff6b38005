import { sql } from 'kysely';
import type { Platform } from '../../core/platform.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { Flag } from '../../platform/db/schema/column_types.ts';
import { type Failure, forbidden, unauthorized } from '../../platform/errors.ts';
import { withMutex } from '../../platform/keyed_mutex.ts';
import { recordAudit } from '../../core/access/audit.ts';
import { collectChange } from '../../core/events/record_event.ts';
import { lacksRequiredFactor } from '../../core/access/credentials/second_factor_due.ts';
import { hasAddress } from '../users/addresses/further_addresses.ts';
import { isPassword } from '../users/password.ts';
import { maxPasswordLength } from '../users/rules.ts';
import { getCountedNames } from './failure_counts.ts';
import { countFailure, requireFewFailures, tooManyFailures } from './sign_in_failures.ts';
import { needsSecondFactor } from './second_factor.ts';

export type PasswordInput = {
  /** User name or e-mail address, in any case. */
  login: string;
  password: string;
  ip: string;
  userAgent: string;
};

export type PasswordUser = {
  id: number;
  username: string;
  state: 'active' | 'blocked';
  email_unchecked: Flag;
};

export type PasswordSignIn = {
  user: PasswordUser;
  /** The password was right but is not sufficient. */
  needsSecondFactor: boolean;
  /** A group requires a second factor that the user lacks. Only a browser may continue, to set it up. */
  lacksRequiredFactor: boolean;
};

type LoadedUser = PasswordUser & { password_hash: string | null };

const findUserByLogin = async (db: Reader, login: string): Promise<LoadedUser | undefined> => {
  const name = login.trim().toLowerCase();
  // Names have no NUL, and PostgreSQL refuses to search for one.
  if (name.includes('\0')) return undefined;
  const isNamed = name.includes('@') ? hasAddress(name) : sql<boolean>`lower(username) = ${name}`;
  return await db
    .selectFrom('users')
    .select(['id', 'username', 'state', 'email_unchecked', 'password_hash'])
    .where(isNamed)
    .where('ghost', '=', 0)
    .executeTakeFirst();
};

/** Checks the password. Takes the same time for existing and unknown users. */
const checkUser = async (db: Reader, { login, password }: PasswordInput) => {
  const user = await findUserByLogin(db, login);
  const isSane = password.length <= maxPasswordLength * 2;
  const isRight = await isPassword(isSane ? password : '', user?.password_hash ?? null);
  return { user, isRight: isRight && isSane };
};

/** Tells observers of changes that a blocked user tried to sign in. */
export const collectBlockedSignIn = (tx: Tx, user: { id: number }): void =>
  collectChange(tx, null, {
    kind: 'user.login_failed',
    project_id: null,
    target_type: 'User',
    target_id: user.id,
  });

const attempt = async ({ store, clock }: Platform, input: PasswordInput): Promise<PasswordUser> => {
  const names = getCountedNames(input.ip, input.login);
  await requireFewFailures(store.db, names, clock.now());
  const { user, isRight } = await checkUser(store.db, input);
  if (user !== undefined && isRight) {
    if (user.state === 'blocked') await store.write(async (tx) => collectBlockedSignIn(tx, user));
    const { password_hash: _hash, ...shown } = user;
    return shown;
  }
  await store.write(async (tx) => {
    await countFailure(tx, names);
    // The typed name is not recorded: it may be a password in the wrong field.
    const target = user === undefined ? {} : { target_type: 'User', target_id: user.id };
    await recordAudit(tx, null, input, { kind: 'session.failed', ...target });
    if (user?.state === 'blocked') collectBlockedSignIn(tx, user);
  });
  throw unauthorized();
};

/**
 * Maximum number of attempts of one origin that wait for each other, so that concurrent guesses count like sequential
 * guesses.
 */
const maxWaitingAttempts = 100;

/**
 * Returns the user of a login and password. Every password check goes through this function, and failures are counted
 * together.
 * @throws Failure 401 both for a wrong password and an unknown user, 429 with `Retry-After` after ten failures of one
 * address within a minute
 */
export const checkPassword = async (platform: Platform, input: PasswordInput): Promise<PasswordUser> => {
  const [origin] = getCountedNames(input.ip, input.login);
  const limit = { maxCallers: maxWaitingAttempts, refuse: () => tooManyFailures(60_000) };
  return await withMutex(
    platform,
    `password of ${origin}`,
    async () => await attempt(platform, input),
    limit,
  );
};

const unconfirmed = 'Confirm your e-mail address first.';

/** Returns whether a sign-in was refused because the address must be confirmed first. */
export const isUnconfirmed = ({ body }: Failure): boolean =>
  JSON.stringify(body) === JSON.stringify(forbidden(unconfirmed).body);

/** Requires that users may sign in by what the service itself knows of them. @throws Failure 403 */
export const requirePasswordSignIn = ({ settings }: Pick<Platform, 'settings'>): void => {
  if (!settings.current.password_authentication_enabled)
    throw forbidden('Password authentication is disabled.');
};

type Account = Pick<PasswordUser, 'state' | 'email_unchecked'>;

/** @throws Failure 403 for a blocked user, and for an address to be confirmed */
const requireOpenAccount = (platform: Platform, { state, email_unchecked }: Account): void => {
  if (state === 'blocked') throw forbidden('Your account has been blocked.');
  if (platform.config.confirm_addresses && email_unchecked === 1) throw forbidden(unconfirmed);
};

/**
 * Requires that the account may sign in; observers learn of a blocked one.
 * @throws Failure 403 as `signInWithPassword`, 401 for a missing user
 */
export const requireSignInAllowed = async (platform: Platform, userId: number): Promise<void> => {
  const user = await platform.store.db
    .selectFrom('users')
    .select(['state', 'email_unchecked'])
    .where('id', '=', userId)
    .executeTakeFirst();
  if (user === undefined) throw unauthorized();
  if (user.state === 'blocked')
    await platform.store.write(async (tx) => collectBlockedSignIn(tx, { id: userId }));
  requireOpenAccount(platform, user);
};

/**
 * Signs in with a password: returns the user, and whether a second factor is required.
 * @throws Failure as `checkPassword`; 403 for a blocked user, an address to be confirmed, or when passwords are off
 */
export const signInWithPassword = async (
  platform: Platform,
  input: PasswordInput,
): Promise<PasswordSignIn> => {
  requirePasswordSignIn(platform);
  const user = await checkPassword(platform, input);
  requireOpenAccount(platform, user);
  const { db } = platform.store;
  return {
    user,
    needsSecondFactor: await needsSecondFactor(db, user.id),
    lacksRequiredFactor: await lacksRequiredFactor(db, user.id, platform.clock.now()),
  };
};
