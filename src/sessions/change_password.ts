import { type Call, actorOf } from '../access/call.ts';
import { updateUser } from '../users/update.ts';
import { confirmPassword } from './confirm_password.ts';
import { startSession } from './start.ts';

/**
 * Gives the caller another password. All his sessions end; the browser that he does it in gets a new one.
 * @returns the cookie of that session
 * @throws Failure 400 for a wrong current password, or a new one that is no good
 */
export const changePassword = async (
  call: Call,
  given: { current_password: string; password: string },
): Promise<string> => {
  const actor = actorOf(call);
  await confirmPassword(call, given.current_password);
  await updateUser(call.platform, actor, actor.user.id, { password: given.password });
  const session = { user_id: actor.user.id, provider: null, source: call, replaced: null };
  return await startSession(call.platform, session);
};
