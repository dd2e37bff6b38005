import { type Call, requireUser } from '../../core/access/call.ts';
import { Failure, invalid } from '../../platform/errors.ts';
import { checkPassword } from './check_password.ts';

/**
 * Requires the caller's password before actions that a borrowed browser must not do.
 * @throws Failure 400 under `current_password` for a wrong one, 429 after too many
 */
export const confirmPassword = async (call: Call, password: string): Promise<void> => {
  const { platform, ip, userAgent } = call;
  const { username: login } = requireUser(call);
  try {
    await checkPassword(platform, { login, password, ip, userAgent });
  } catch (error) {
    const isWrong = error instanceof Failure && error.kind === 'unauthorized';
    throw isWrong ? invalid({ current_password: ['is invalid'] }) : error;
  }
};
