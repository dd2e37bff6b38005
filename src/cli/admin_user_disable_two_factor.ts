import type { Command } from 'commander';
import { recordAudit } from '../access/audit.ts';
import { removeFactor } from '../two_factor/enroll.ts';
import { type AdminOptions, adminAction, onStore, requireUser } from './admin_user.ts';
import { print } from './command.ts';

/** Whence it was done: no address asked. */
const here = { ip: '', userAgent: 'gantry admin' };

const disable = async (username: string, options: AdminOptions): Promise<void> =>
  await onStore(options, async (store) => {
    const id = await requireUser(store.db, username);
    await store.write(async (tx) => {
      await removeFactor(tx, id);
      const target = { target_type: 'User', target_id: id };
      await recordAudit(tx, null, here, { kind: 'two_factor.disabled', ...target });
    });
    print(options, { id, username }, `"${username}" signs in with the password alone.`);
  });

export const userDisableTwoFactorCommand = (): Command =>
  adminAction('disable-two-factor', {
    summary: 'Turn the second factor of a user off, who lost the authenticator and the recovery codes.',
    examples: ['gantry admin user disable-two-factor maria'],
  })
    .argument('<username>', 'who')
    .action(disable);
