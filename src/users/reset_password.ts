import type { Cause } from '../events/record.ts';
import { type UserParts, randomPassword } from './create.ts';
import { updateUser } from './update.ts';

/**
 * Gives a user another password.
 * @param password null: a random one
 * @returns the password, to be shown once
 * @throws Failure 404 for no user, 400 for a password that is no good
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
