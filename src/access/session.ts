/** The session of a browser, in the store. */
import { sql } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Reader, Store } from '../db/open.ts';
import { forbidden } from '../errors.ts';
import type { Settings } from '../settings/fields.ts';
import { type SignedIn, namesVersion, noteActivity, userColumns } from './authenticate.ts';
import { hashToken } from './token_text.ts';
import { rolesText, today, viewerOf } from './viewer.ts';

/** Milliseconds after which everybody signs in again. */
export const longestSession = 90 * 86_400_000;

/** Milliseconds that a session may rest; 0 minutes: as long as it lives. */
export const idleLimit = ({ session_expire_delay: minutes }: Settings): number =>
  minutes === 0 ? Infinity : minutes * 60_000;

const sessionByHash = compiled((db, { token_hash, day }: { token_hash: string; day: string }) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select(userColumns)
    .select(['sessions.id as session_id', 'sessions.signed_in_at', 'sessions.last_seen_at'])
    .select('sessions.created_at as began_at')
    .select(rolesText(sql`users.id`, day).as('roles'))
    .select(namesVersion.as('names_version'))
    .where('sessions.token_hash', '=', token_hash)
    .compile(),
);

/** A session opens what the API has, and never sudo. */
const scopes = ['api'];

export type Session = SignedIn & { signed_in_at: number };

/**
 * Whose session this is; null where there is none, or where it has ended.
 * @throws Failure 403 for a blocked user
 */
export const openSession = async (
  db: Reader,
  secret: string,
  { now, settings }: { now: number; settings: Settings },
): Promise<Session | null> => {
  const [row] = await sessionByHash(db, { token_hash: hashToken(secret), day: today(now) });
  if (row === undefined) return null;
  const { session_id: id, began_at, last_seen_at, signed_in_at, roles, names_version, ...user } = row;
  if (now - began_at >= longestSession || now - last_seen_at >= idleLimit(settings)) return null;
  if (user.state === 'blocked') throw forbidden('Your account has been blocked.');
  const credential = { kind: 'session', id, scopes, last_used_at: last_seen_at } as const;
  return { user, credential, viewer: viewerOf(user, roles), names_version, signed_in_at };
};

const minute = 60_000;

/** Notes that a session is in use: behind the request, once a minute, or as often as a short idle limit needs. */
export const noteSeen = (store: Store, signedIn: SignedIn, now: number, idle: number): void => {
  const { id, last_used_at } = signedIn.credential;
  if (now - (last_used_at ?? 0) < Math.min(minute, idle / 10)) return;
  void store
    .write(async ({ db }) => {
      await db.updateTable('sessions').set({ last_seen_at: now }).where('id', '=', id).execute();
      await noteActivity(db, signedIn.user.id, now);
    })
    .catch(() => undefined);
};
