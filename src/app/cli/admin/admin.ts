import type { Command } from 'commander';
import { tokenCreateCommand } from './token_create.ts';
import { userBlockCommand } from './user_block.ts';
import { userCreateCommand } from './user_create.ts';
import { userDisableTwoFactorCommand } from './user_disable_two_factor.ts';
import { userListCommand } from './user_list.ts';
import { userResetPasswordCommand } from './user_reset_password.ts';
import { userUnblockCommand } from './user_unblock.ts';
import { workCommand } from './work.ts';
import { group } from '../command_builders.ts';

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
      summary: 'Create, list and block users; reset passwords.',
      examples: ['gantry admin user list --blocked'],
    },
    userCommands.map((make) => make()),
  );

const tokenCommand = (): Command =>
  group(
    'token',
    { summary: 'Create access tokens of users.', examples: ['gantry admin token create --user root'] },
    [tokenCreateCommand()],
  );

export const adminCommand = (): Command =>
  group(
    'admin',
    {
      summary: 'Manage users, tokens and background work on this machine, also while the service runs.',
      examples: ['gantry admin user list', 'gantry admin token create --user root --scopes api,sudo'],
    },
    [userCommand(), tokenCommand(), workCommand()],
  );
