/** Authenticates browser sessions. */
import { sql } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader, Store } from '../../../platform/db/open.ts';
import { forbidden } from '../../../platform/errors.ts';
import type { Settings } from '../../settings/fields.ts';
import { type SignedIn, namesVersion, recordActivity, userColumns } from './authenticate.ts';
import { secondFactorDueAt } from './second_factor_due.ts';
import { hashToken } from './token_text.ts';
import { rolesText, today, toViewer } from '../viewer.ts';

/** Maximum lifetime of a session in milliseconds; users then sign in again. */
export const maxSessionAge = 90 * 86_400_000;

/** Returns the idle timeout of sessions in milliseconds; `maxSessionAge` if the setting is 0. */
export const getIdleTimeout = ({ session_expire_delay: minutes }: Settings): number =>
  minutes === 0 ? Infinity : minutes * 60_000;

const selectSession = compiled((db, { token_hash, day }: { token_hash: string; day: string }) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(userColumns)
    .select(['sessions.id as session_id', 'sessions.signed_in_at', 'sessions.last_seen_at'])
    .select('sessions.created_at as began_at')
    .select(rolesText(sql`users.id`, day).as('roles'))
    .select(namesVersion.as('names_version'))
    .select(secondFactorDueAt(day).as('factor_due_at'))
    .where('sessions.token_hash', '=', token_hash)
    .compile(),
);

/** A session has the scope of the API, but never sudo. */
const scopes = ['api'];

export type Session = SignedIn & {
  signed_in_at: number;
  /** When the user needs a second factor that they lack; null: never. */
  factor_due_at: number | null;
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
  const [row] = await selectSession(db, { token_hash: hashToken(secret), day: today(now) });
  if (row === undefined) return null;
  const {
    session_id: id,
    began_at,
    last_seen_at,
    signed_in_at,
    roles,
    names_version,
    factor_due_at,
    ...user
  } = row;
  if (now - began_at >= maxSessionAge || now - last_seen_at >= getIdleTimeout(settings)) return null;
  if (user.state === 'blocked') throw forbidden('Your account has been blocked.');
  const credential = { kind: 'session', id, scopes, last_used_at: last_seen_at } as const;
  return { user, credential, viewer: toViewer(user, roles), names_version, signed_in_at, factor_due_at };
};

const minute = 60_000;

/**
 * Records the use of a session without delaying the request: once a minute, or more often if the idle timeout is
 * short.
 */
export const recordSessionUse = (store: Store, signedIn: SignedIn, now: number, idle: number): void => {
  const { id, last_used_at } = signedIn.credential;
  if (now - (last_used_at ?? 0) < Math.min(minute, idle / 10)) return;
  void store
    .write(async ({ db }) => {
      await db.updateTable('sessions').set({ last_seen_at: now }).where('id', '=', id).execute();
      await recordActivity(db, signedIn.user.id, now);
    })
    .catch(() => undefined);
};
