/** Uses the links of mails about an account: sets another password, confirms an address. */
import { type Source, recordAudit } from '../../core/access/audit.ts';
import { notifyOfSecurityChange } from '../../core/mail/notify_of_security_change.ts';
import type { Platform } from '../../core/platform.ts';
import { forbidden } from '../../platform/errors.ts';
import type { Tx } from '../../platform/db/open.ts';
import { acceptInvitations } from '../invitations/accept.ts';
import { updateUser } from '../users/update.ts';
import { type AccountPurpose, type LinkOwner, expiredLink, readLinkToken } from './links.ts';

const requireLink = async (
  platform: Pick<Platform, 'secrets'>,
  tx: Tx,
  purpose: AccountPurpose,
  token: string,
): Promise<LinkOwner> => {
  const owner = await readLinkToken(platform, tx, purpose, token);
  if (owner === null) throw expiredLink();
  return owner;
};

/** Returns whether a link works now, to show the form that uses it. */
export const isUsableLink = async (
  platform: Platform,
  purpose: AccountPurpose,
  token: string,
): Promise<boolean> => {
  const at = { db: platform.store.db, now: platform.clock.now() };
  return (await readLinkToken(platform, at, purpose, token)) !== null;
};

const markChecked = async ({ db }: Tx, id: number): Promise<void> =>
  void (await db.updateTable('users').set({ email_unchecked: 0 }).where('id', '=', id).execute());

/**
 * Sets another password by a link, which ends all sessions and the link. It also proves the address of the account, if
 * the link went there.
 * @throws Failure 400 by field for a link that does not work, or an invalid password; 403 if passwords are off
 */
export const resetPasswordByLink = async (
  platform: Platform,
  { token, password }: { token: string; password: string },
  source: Source,
): Promise<void> => {
  if (!platform.settings.current.password_authentication_enabled)
    throw forbidden('Password authentication is disabled.');
  const at = { db: platform.store.db, now: platform.clock.now() };
  const owner = await readLinkToken(platform, at, 'password_reset', token);
  if (owner === null) throw expiredLink();
  const { user_id: id, email_id } = owner;
  // Checked again with the user's row locked: of two concurrent uses, one finds the link used.
  const also = async (tx: Tx): Promise<void> => {
    await requireLink(platform, tx, 'password_reset', token);
    if (email_id === null) await markChecked(tx, id);
    await recordAudit(tx, { user: { id }, sudo_by_id: null }, source, {
      kind: 'user.password_reset',
      target_type: 'User',
      target_id: id,
    });
    await notifyOfSecurityChange(platform, tx, id, 'account.password_changed');
  };
  const { store, random } = platform;
  await updateUser({ store, random, also }, { user: { id }, sudo_by_id: null, source }, id, { password });
  await acceptInvitations(store, id, at.now);
};

/**
 * Confirms an address by a link, and accepts the invitations of the address.
 * @throws Failure 400 for a link that does not work
 */
export const confirmAddress = async (platform: Platform, token: string): Promise<void> => {
  const { store, clock } = platform;
  const id = await store.write(async (tx) => {
    const { user_id: userId } = await requireLink(platform, tx, 'confirm_address', token);
    await markChecked(tx, userId);
    return userId;
  });
  await acceptInvitations(store, id, clock.now());
};
