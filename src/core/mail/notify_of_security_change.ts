/** Mails users about changes of how their account is signed in to, which somebody else may have made. */
import type { Tx } from '../../platform/db/open.ts';
import type { Platform } from '../platform.ts';
import { enqueueMails, isMailOn } from './enqueue_mails.ts';

export const securityMailKinds = [
  'account.passkey_added',
  'account.ssh_key_added',
  'account.password_changed',
  'account.two_factor_disabled',
  'account.recovery_codes_replaced',
] as const;

export type SecurityMailKind = (typeof securityMailKinds)[number];

/** Milliseconds within which changes of one kind share a mail, so that nobody is flooded. */
const window = 60_000;

/**
 * Enqueues a mail to the address of the account, in the transaction of the change. An unconfirmed address gets none where
 * addresses must be confirmed, because it may belong to a stranger.
 */
export const notifyOfSecurityChange = async (
  platform: Pick<Platform, 'config'>,
  tx: Tx,
  user_id: number,
  kind: SecurityMailKind,
): Promise<void> => {
  if (!isMailOn(platform)) return;
  const user = await tx.db
    .selectFrom('users')
    .select('email_unchecked')
    .where('id', '=', user_id)
    .executeTakeFirst();
  if (platform.config.confirm_addresses && user?.email_unchecked === 1) return;
  const event_key = `${kind}-${Math.floor(tx.now / window)}`;
  await enqueueMails(tx, [{ user_id, kind, event_key, reason: 'account' }]);
};
