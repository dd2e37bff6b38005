import type { Command } from 'commander';
import { type AdminOptions, adminAction, changeState } from './user.ts';

export const userBlockCommand = (): Command =>
  adminAction('block', {
    summary: 'Block a user: password and tokens stop working.',
    examples: ['gantry admin user block maria'],
  })
    .argument('<username>', 'user name')
    .action(async (username: string, options: AdminOptions) => await changeState(username, options, true));
