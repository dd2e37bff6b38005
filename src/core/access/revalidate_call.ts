/** Checks again, during a long response, that the caller may still receive it. */
import type { Reader } from '../../platform/db/open.ts';
import { type Credential, isExpired } from './credentials/authenticate.ts';
import type { Call } from './call.ts';
import { maxImpersonationAge, maxSessionAge } from './credentials/session.ts';
import { lacksRequiredFactor } from './credentials/second_factor_due.ts';
import { loadViewer } from './viewer.ts';

const isTokenValid = async (db: Reader, id: number, now: number): Promise<boolean> => {
  const row = await db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .select(['tokens.expires_at', 'tokens.dies_at'])
    .where('tokens.id', '=', id)
    .where('tokens.revoked', '=', 0)
    .where('users.state', '<>', 'blocked')
    .executeTakeFirst();
  return row !== undefined && !isExpired(row, now);
};

/**
 * Returns whether a session has neither ended nor exceeded its maximum age. The idle timeout does not apply: a client
 * that listens is not idle.
 */
const isSessionValid = async (db: Reader, id: number, now: number): Promise<boolean> => {
  const row = await db
    .selectFrom('sessions')
    .select(['user_id', 'impersonator_session_id', 'created_at'])
    .where('id', '=', id)
    .where('created_at', '>', now - maxSessionAge)
    .executeTakeFirst();
  if (row === undefined) return false;
  if (row.impersonator_session_id !== null) return now - row.created_at < maxImpersonationAge;
  return !(await lacksRequiredFactor(db, row.user_id, now));
};

const isCredentialValid = async (db: Reader, { kind, id }: Credential, now: number): Promise<boolean> => {
  // No long response is open to jobs and feed readers.
  if (kind === 'job' || kind === 'feed') return false;
  return await (kind === 'session' ? isSessionValid : isTokenValid)(db, id, now);
};

const loadCurrentUser = async (db: Reader, id: number) =>
  await db
    .selectFrom('users')
    .select(['id', 'admin', 'external'])
    .where('id', '=', id)
    .where('state', '<>', 'blocked')
    .executeTakeFirst();

/** Reopens a call with current data; null if it would be refused now. Does not record a use of the credential. */
export const revalidateCall = async (call: Call): Promise<Call | null> => {
  const { actor, db, platform } = call;
  const now = platform.clock.now();
  if (actor === null || !(await isCredentialValid(db, actor.credential, now))) return null;
  const user = await loadCurrentUser(db, actor.user.id);
  const actingAdmin = actor.sudo_by_id === null ? null : await loadCurrentUser(db, actor.sudo_by_id);
  if (user === undefined || actingAdmin === undefined || actingAdmin?.admin === 0) return null;
  const isImpersonation = actor.credential.kind === 'session' && actingAdmin !== null;
  if (isImpersonation && user.admin === 1) return null;
  return { ...call, now, admin: user.admin === 1, viewer: await loadViewer(db, user, now) };
};
