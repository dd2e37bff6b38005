import type { Command } from 'commander';
import { type AdminOptions, adminAction, changeState } from './user.ts';

export const userUnblockCommand = (): Command =>
  adminAction('unblock', {
    summary: 'Unblock a user. Earlier access tokens work again.',
    examples: ['gantry admin user unblock maria'],
  })
    .argument('<username>', 'user name')
    .action(async (username: string, options: AdminOptions) => await changeState(username, options, false));
