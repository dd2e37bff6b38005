import type { Command } from 'commander';
import { type AdminOptions, adminAction, changeState } from './admin_user.ts';

export const userBlockCommand = (): Command =>
  adminAction('block', {
    summary: 'Shut a user out: neither password nor tokens let him in.',
    examples: ['gantry admin user block maria'],
  })
    .argument('<username>', 'who')
    .action(async (username: string, options: AdminOptions) => await changeState(username, options, true));
