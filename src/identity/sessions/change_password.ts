import { type Call, requireActor, requireUser } from '../../core/access/call.ts';
import { notifyOfSecurityChange } from '../../core/mail/notify_of_security_change.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { invalid } from '../../platform/errors.ts';
import { updateUser } from '../users/update.ts';
import { confirmPassword } from './confirm_password.ts';
import { startSession } from './start_session.ts';

/** Milliseconds after sign-in for which a user without a password may set one. */
const freshFor = 15 * 60_000;

export const hasPassword = async (db: Reader, userId: number): Promise<boolean> => {
  const query = db.selectFrom('users').select('password_hash').where('id', '=', userId);
  return (await query.executeTakeFirstOrThrow()).password_hash !== null;
};

/** Requires a recent sign-in, so that a browser left open cannot set a password. */
const requireFreshSession = async (call: Call): Promise<void> => {
  const { id } = requireActor(call).credential;
  const query = call.db.selectFrom('sessions').select('signed_in_at').where('id', '=', id);
  const session = await query.executeTakeFirst();
  if (session === undefined || call.now - session.signed_in_at > freshFor) {
    throw invalid({ password: ['can be set within 15 minutes of a sign-in: sign out and in again'] });
  }
};

/**
 * Changes the caller's password, or sets the first one. All sessions of the user end; this browser gets a new session.
 * @param passwords the current password, for users who have one
 * @returns the cookie of the new session
 * @throws Failure 400 for a wrong current password or an invalid new one
 */
export const changePassword = async (
  call: Call,
  passwords: { current_password: string; password: string },
): Promise<string> => {
  const actor = requireActor(call);
  if (await hasPassword(call.db, requireUser(call).id))
    await confirmPassword(call, passwords.current_password);
  else await requireFreshSession(call);
  const { store, random } = call.platform;
  const also = async (tx: Tx, id: number): Promise<void> =>
    await notifyOfSecurityChange(call.platform, tx, id, 'account.password_changed');
  await updateUser({ store, random, also }, actor, actor.user.id, { password: passwords.password });
  const session = { user_id: actor.user.id, provider: null, source: call, replaced: null };
  return await startSession(call.platform, session);
};
