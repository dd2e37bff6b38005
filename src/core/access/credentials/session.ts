/** Authenticates browser sessions. */
import { sql } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader, Store } from '../../../platform/db/open.ts';
import { forbidden } from '../../../platform/errors.ts';
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds } from '../../../platform/time.ts';
import type { Settings } from '../../settings/fields.ts';
import { keepUntilChange } from '../../../platform/db/keep_until_change.ts';
import { type SignedIn, identityTables, namesVersion, recordActivity, userColumns } from './authenticate.ts';
import { secondFactorDueAt } from './second_factor_due.ts';
import { hashToken } from './token_text.ts';
import { type Viewer, rolesText, today, toViewer } from '../viewer.ts';

/** Maximum lifetime of a session in milliseconds; users then sign in again. */
export const maxSessionAge = 90 * dayMilliseconds;

/** Returns the idle timeout of sessions in milliseconds; `maxSessionAge` if the setting is 0. */
export const getIdleTimeout = ({ session_expire_delay: minutes }: Settings): number =>
  minutes === 0 ? Infinity : minutes * 60_000;

const selectSession = compiled((db, { token_hash, day }: { token_hash: string; day: string }) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .leftJoin('sessions as behind', 'behind.id', 'sessions.impersonator_session_id')
    .leftJoin('users as impersonators', 'impersonators.id', 'behind.user_id')
    .select(userColumns)
    .select(['sessions.id as session_id', 'sessions.signed_in_at', 'sessions.last_seen_at'])
    .select([
      'impersonators.id as impersonator_id',
      'impersonators.admin as impersonator_admin',
      'impersonators.state as impersonator_state',
      'behind.id as impersonator_session_id',
    ])
    .select('sessions.created_at as began_at')
    .select(rolesText(sql`users.id`, day).as('roles'))
    .select(namesVersion.as('names_version'))
    .select(secondFactorDueAt(day).as('factor_due_at'))
    .where('sessions.token_hash', '=', token_hash)
    .compile(),
);

/** Maximum duration of an impersonation in milliseconds. */
export const maxImpersonationAge = hourMilliseconds;

/** A session has the scope of the API, but never sudo. */
const scopes = ['api'];

export type Session = SignedIn & {
  signed_in_at: number;
  /** When the user needs a second factor that they lack; null: never. */
  factor_due_at: number | null;
};

type Impersonated = {
  impersonator_id: number | null;
  impersonator_admin: number | null;
  impersonator_state: string | null;
  impersonator_session_id: number | null;
  began_at: number;
  admin: number;
};

/**
 * Checks an impersonation again at each request: the administrator must still be one, the user must not have become
 * one, and the time must not be over.
 */
const isImpersonationValid = (row: Impersonated, now: number): boolean =>
  row.impersonator_id === null ||
  (row.impersonator_admin === 1 &&
    row.impersonator_state === 'active' &&
    row.admin === 0 &&
    now - row.began_at < maxImpersonationAge);

/** Sessions in memory. */
const maxSessions = 2_000;

type SessionRow = Awaited<ReturnType<typeof selectSession>>[number];

/** A row of a session, and what is made of it once. */
type LoadedSession = { row: SessionRow; user: SignedIn['user']; viewer: Viewer };

const keepSession = keepUntilChange<LoadedSession | undefined>(['sessions', ...identityTables], maxSessions);

const toUser = (row: SessionRow): SignedIn['user'] => {
  const {
    session_id: _session,
    began_at: _began,
    last_seen_at: _seen,
    signed_in_at: _signed,
    roles: _roles,
    names_version: _names,
    factor_due_at: _due,
    impersonator_id: _impersonator,
    impersonator_admin: _admin,
    impersonator_state: _state,
    impersonator_session_id: _behind,
    ...user
  } = row;
  return user;
};

const loadSession = async (
  db: Reader,
  token_hash: string,
  day: string,
): Promise<LoadedSession | undefined> => {
  const [row] = await selectSession(db, { token_hash, day });
  return row && { row, user: toUser(row), viewer: toViewer(row, row.roles) };
};

/**
 * Authenticates a session cookie. Returns null for an unknown or expired session.
 * @throws Failure 403 for a blocked user
 */
export const authenticateSession = async (
  db: Reader,
  secret: string,
  { now, settings }: { now: number; settings: Settings },
): Promise<Session | null> => {
  const [token_hash, day] = [hashToken(secret), today(now)];
  const kept = await keepSession(
    db,
    `${token_hash} ${day}`,
    async () => await loadSession(db, token_hash, day),
  );
  if (kept === undefined || !isImpersonationValid(kept.row, now)) return null;
  const { user, viewer } = kept;
  const { session_id: id, began_at, last_seen_at, signed_in_at, names_version, factor_due_at } = kept.row;
  const { impersonator_id, impersonator_session_id } = kept.row;
  if (now - began_at >= maxSessionAge || now - last_seen_at >= getIdleTimeout(settings)) return null;
  if (user.state === 'blocked') throw forbidden('Your account has been blocked.');
  const credential = { kind: 'session', id, scopes, last_used_at: last_seen_at } as const;
  const signedIn = { user, credential, viewer, names_version, signed_in_at };
  if (impersonator_id === null || impersonator_session_id === null) return { ...signedIn, factor_due_at };
  // The administrator has signed in with their own factor.
  const impersonator = { id: impersonator_id, session_id: impersonator_session_id };
  return { ...signedIn, impersonator, factor_due_at: null };
};

/**
 * Records the use of a session without delaying the request: once a minute, or more often if the idle timeout is
 * short.
 */
export const recordSessionUse = (store: Store, signedIn: SignedIn, now: number, idle: number): void => {
  const { credential, impersonator } = signedIn;
  const { id, last_used_at } = credential;
  if (now - (last_used_at ?? 0) < Math.min(minuteMilliseconds, idle / 10)) return;
  void store
    .write(async ({ db }) => {
      const ids = impersonator === undefined ? [id] : [id, impersonator.session_id];
      await db.updateTable('sessions').set({ last_seen_at: now }).where('id', 'in', ids).execute();
      // Activity of an impersonating administrator does not count as activity of the user.
      await recordActivity(db, impersonator?.id ?? signedIn.user.id, now);
    })
    .catch(() => undefined);
};
