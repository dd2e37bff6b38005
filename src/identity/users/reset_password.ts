import type { Cause } from '../../core/events/record_event.ts';
import { type UserParts, randomPassword } from './create.ts';
import { updateUser } from './update.ts';

/**
 * Sets another password for a user.
 * @param password null: a random one
 * @returns the password, to be shown once
 * @throws Failure 404 for an unknown user, 400 for an invalid password
 */
export const resetPassword = async (
  parts: UserParts,
  cause: Cause | null,
  id: number,
  password: string | null,
): Promise<string> => {
  const chosen = password ?? randomPassword(parts.random);
  await updateUser(parts, cause, id, { password: chosen });
  return chosen;
};
