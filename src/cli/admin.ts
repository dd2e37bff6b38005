import type { Command } from 'commander';
import { tokenCreateCommand } from './admin_token_create.ts';
import { userBlockCommand } from './admin_user_block.ts';
import { userCreateCommand } from './admin_user_create.ts';
import { userDisableTwoFactorCommand } from './admin_user_disable_two_factor.ts';
import { userListCommand } from './admin_user_list.ts';
import { userResetPasswordCommand } from './admin_user_reset_password.ts';
import { userUnblockCommand } from './admin_user_unblock.ts';
import { workCommand } from './admin_work.ts';
import { group } from './command.ts';

const userCommands = [
  userCreateCommand,
  userListCommand,
  userBlockCommand,
  userUnblockCommand,
  userResetPasswordCommand,
  userDisableTwoFactorCommand,
];

const userCommand = (): Command =>
  group(
    'user',
    {
      summary: 'Create, list, block users; set a password anew.',
      examples: ['gantry admin user list --blocked'],
    },
    userCommands.map((make) => make()),
  );

const tokenCommand = (): Command =>
  group(
    'token',
    { summary: 'Access tokens of users.', examples: ['gantry admin token create --user root'] },
    [tokenCreateCommand()],
  );

export const adminCommand = (): Command =>
  group(
    'admin',
    {
      summary: 'Users, tokens and background work, on the machine itself; the service may run meanwhile.',
      examples: ['gantry admin user list', 'gantry admin token create --user root --scopes api,sudo'],
    },
    [userCommand(), tokenCommand(), workCommand()],
  );
