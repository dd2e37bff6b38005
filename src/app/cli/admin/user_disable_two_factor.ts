import type { Command } from 'commander';
import { removeFactorOf } from '../../../identity/two_factor/remove_factor.ts';
import { type AdminOptions, adminAction, withOpenStore, requireUser } from './user.ts';
import { print } from '../print_result.ts';

/** The source recorded in the audit log: no address. */
const source = { ip: '', userAgent: 'gantry admin' };

const disable = async (username: string, options: AdminOptions): Promise<void> =>
  await withOpenStore(options, async (store) => {
    const id = await requireUser(store.db, username);
    await store.write(async (tx) => await removeFactorOf(tx, null, source, id));
    print(options, { id, username }, `"${username}" now signs in with only the password.`);
  });

export const userDisableTwoFactorCommand = (): Command =>
  adminAction('disable-two-factor', {
    summary: 'Disable the second factor of a user who lost the authenticator and the recovery codes.',
    examples: ['gantry admin user disable-two-factor maria'],
  })
    .argument('<username>', 'user name')
    .action(disable);
