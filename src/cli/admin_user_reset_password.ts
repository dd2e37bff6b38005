import type { Command } from 'commander';
import { resetPassword } from '../users/reset_password.ts';
import {
  type AdminOptions,
  adminAction,
  onStore,
  passwordFromStdin,
  passwordOption,
  requireUser,
  userParts,
} from './admin_user.ts';
import { print } from './command.ts';

const reset = async (username: string, options: AdminOptions): Promise<void> => {
  const given = options['passwordStdin'] === true ? await passwordFromStdin() : null;
  await onStore(options, async (store) => {
    const id = await requireUser(store.db, username);
    const password = await resetPassword(userParts(store), null, id, given);
    const shown = given === null ? { password } : {};
    const text =
      given === null
        ? `The password of "${username}" is now: ${password}`
        : `"${username}" has the password.`;
    print(options, { id, username, ...shown }, text);
  });
};

export const userResetPasswordCommand = (): Command =>
  adminAction('reset-password', {
    summary: 'Give a user another password. His tokens stay as they are.',
    examples: [
      'gantry admin user reset-password root',
      'printf %s "$PASSWORD" | gantry admin user reset-password maria --password-stdin',
    ],
  })
    .argument('<username>', 'who')
    .option(...passwordOption)
    .action(reset);
