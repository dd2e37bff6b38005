import type { Command } from 'commander';
import { type AdminOptions, adminAction, changeState } from './admin_user.ts';

export const userUnblockCommand = (): Command =>
  adminAction('unblock', {
    summary: 'Let a blocked user in again, with the tokens that he had.',
    examples: ['gantry admin user unblock maria'],
  })
    .argument('<username>', 'who')
    .action(async (username: string, options: AdminOptions) => await changeState(username, options, false));
