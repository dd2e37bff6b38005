import type { Command } from 'commander';
import { resetPassword } from '../../../identity/users/reset_password.ts';
import {
  type AdminOptions,
  adminAction,
  withOpenStore,
  readPasswordFromStdin,
  passwordOption,
  requireUser,
  userParts,
} from './user.ts';
import { print } from '../print_result.ts';

type Options = AdminOptions & { passwordStdin?: boolean };

const reset = async (username: string, options: Options): Promise<void> => {
  const inputPassword = options.passwordStdin === true ? await readPasswordFromStdin() : null;
  await withOpenStore(options, async (store) => {
    const id = await requireUser(store.db, username);
    const password = await resetPassword(userParts(store), null, id, inputPassword);
    const shown = inputPassword === null ? { password } : {};
    const text =
      inputPassword === null
        ? `The password of "${username}" is now: ${password}`
        : `The password of "${username}" was changed.`;
    print(options, { id, username, ...shown }, text);
  });
};

export const userResetPasswordCommand = (): Command =>
  adminAction('reset-password', {
    summary: 'Set a new password for a user. Access tokens remain valid.',
    examples: [
      'gantry admin user reset-password root',
      'printf %s "$PASSWORD" | gantry admin user reset-password maria --password-stdin',
    ],
  })
    .argument('<username>', 'user name')
    .option(...passwordOption)
    .action(reset);
