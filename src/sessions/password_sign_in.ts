import { sql } from 'kysely';
import type { Platform } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import { forbidden, unauthorized } from '../errors.ts';
import { inTurn } from '../in_turn.ts';
import { recordAudit } from '../access/audit.ts';
import { isPassword } from '../users/password.ts';
import { longestPassword } from '../users/rules.ts';
import { countedNames } from './attempts.ts';
import { countFailure, requireFewFailures, tooManyFailures } from './failures.ts';
import { needsSecondFactor } from './second_factor.ts';

export type PasswordGiven = {
  /** User name or e-mail address, in any case. */
  login: string;
  password: string;
  ip: string;
  userAgent: string;
};

export type PasswordUser = { id: number; username: string; state: 'active' | 'blocked' };

export type PasswordSignIn = {
  user: PasswordUser;
  /** The password was right, and is not enough. */
  needsSecondFactor: boolean;
};

type Found = PasswordUser & { password_hash: string | null };

const userByLogin = async (db: Reader, login: string): Promise<Found | undefined> => {
  const name = login.trim().toLowerCase();
  // No name has a NUL, and PostgreSQL would refuse to look for one.
  if (name.includes('\0')) return undefined;
  const column = name.includes('@') ? sql`lower(email)` : sql`lower(username)`;
  return await db
    .selectFrom('users')
    .select(['id', 'username', 'state', 'password_hash'])
    .where(column, '=', name)
    .where('ghost', '=', 0)
    .executeTakeFirst();
};

/** Takes the same time for a user that there is and for one that there is not. */
const checked = async (db: Reader, { login, password }: PasswordGiven) => {
  const user = await userByLogin(db, login);
  const isSane = password.length <= longestPassword * 2;
  const isRight = await isPassword(isSane ? password : '', user?.password_hash ?? null);
  return { user, isRight: isRight && isSane };
};

const attempt = async ({ store, clock }: Platform, given: PasswordGiven): Promise<PasswordUser> => {
  const names = countedNames(given.ip, given.login);
  await requireFewFailures(store.db, names, clock.now());
  const { user, isRight } = await checked(store.db, given);
  if (user !== undefined && isRight) {
    const { password_hash: _hash, ...shown } = user;
    return shown;
  }
  await store.write(async (tx) => {
    await countFailure(tx, names);
    // What was typed is not recorded: it may be a password, in the wrong field.
    const target = user === undefined ? {} : { target_type: 'User', target_id: user.id };
    await recordAudit(tx, null, given, { kind: 'session.failed', ...target });
  });
  throw unauthorized();
};

/** Guesses of one origin that wait for each other: a hundred sent at once are counted as if sent in turn. */
const mostAtOnce = 100;

/**
 * Whose password this is: the one place that takes one. Failures are counted for all that ask.
 * @throws Failure 401 for a wrong password and for no user alike, 429 with `Retry-After` after ten failures of one
 * address within a minute
 */
export const checkPassword = async (platform: Platform, given: PasswordGiven): Promise<PasswordUser> => {
  const [origin] = countedNames(given.ip, given.login);
  const limit = { most: mostAtOnce, refuse: () => tooManyFailures(60_000) };
  return await inTurn(platform, `password of ${origin}`, async () => await attempt(platform, given), limit);
};

/**
 * Signs in with a password, by whatever door: whose it is, and whether it is enough.
 * @throws Failure as `checkPassword`; 403 for a blocked user, and where passwords are off
 */
export const passwordSignIn = async (platform: Platform, given: PasswordGiven): Promise<PasswordSignIn> => {
  if (!platform.settings.current.password_authentication_enabled) {
    throw forbidden('Password authentication is disabled.');
  }
  const user = await checkPassword(platform, given);
  if (user.state === 'blocked') throw forbidden('Your account has been blocked.');
  return { user, needsSecondFactor: await needsSecondFactor(platform.store.db, user.id) };
};
