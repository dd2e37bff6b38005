import { type Call, actorOf, userOf } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import { invalid } from '../errors.ts';
import { updateUser } from '../users/update.ts';
import { confirmPassword } from './confirm_password.ts';
import { startSession } from './start.ts';

/** Milliseconds after a sign-in within which one who has no password may give himself one. */
const freshFor = 15 * 60_000;

export const hasPassword = async (db: Reader, userId: number): Promise<boolean> => {
  const query = db.selectFrom('users').select('password_hash').where('id', '=', userId);
  return (await query.executeTakeFirstOrThrow()).password_hash !== null;
};

/** A browser that was left open must not give its owner's account a password. */
const requireFreshSession = async (call: Call): Promise<void> => {
  const { id } = actorOf(call).credential;
  const query = call.db.selectFrom('sessions').select('signed_in_at').where('id', '=', id);
  const session = await query.executeTakeFirst();
  if (session === undefined || call.now - session.signed_in_at > freshFor) {
    throw invalid({ password: ['can be set within 15 minutes of a sign-in: sign out and in again'] });
  }
};

/**
 * Gives the caller another password, or his first. All his sessions end; the browser that he does it in gets a new one.
 * @param given the current one, of who has one
 * @returns the cookie of that session
 * @throws Failure 400 for a wrong current password, or a new one that is no good
 */
export const changePassword = async (
  call: Call,
  given: { current_password: string; password: string },
): Promise<string> => {
  const actor = actorOf(call);
  if (await hasPassword(call.db, userOf(call).id)) await confirmPassword(call, given.current_password);
  else await requireFreshSession(call);
  await updateUser(call.platform, actor, actor.user.id, { password: given.password });
  const session = { user_id: actor.user.id, provider: null, source: call, replaced: null };
  return await startSession(call.platform, session);
};
