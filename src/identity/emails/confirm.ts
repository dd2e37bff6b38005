/** Links that confirm a further address. They are signed and expire; the service stores nothing for them. */
import { isSignedLink, readLinkText, signLink } from '../../core/access/credentials/signed_links.ts';
import type { Platform } from '../../core/platform.ts';
import { enqueueMails, isMailOn } from '../../core/mail/enqueue_mails.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { invalid } from '../../platform/errors.ts';
import { emailAddedKind } from '../account_mails/links.ts';
import { acceptInvitations } from '../invitations/accept.ts';
import { confirmationTime } from '../users/addresses/further_addresses.ts';
import { userIdByEmail } from '../users/queries.ts';
import type { EmailRow } from './queries.ts';

const purpose = 'confirm_email';

const toText = ({ id, requested_at }: Pick<EmailRow, 'id' | 'requested_at'>): string =>
  `${id}-${requested_at + confirmationTime}`;

/** Makes the token of the link in the mail to an address. */
export const makeEmailToken = ({ secrets }: Pick<Platform, 'secrets'>, email: EmailRow): string =>
  signLink(secrets.session_key, purpose, toText(email), email.email);

/** Loads an unconfirmed address. */
export const loadUnconfirmed = async (db: Reader, id: number): Promise<EmailRow | undefined> =>
  await db
    .selectFrom('emails')
    .selectAll()
    .where('id', '=', id)
    .where('confirmed_at', 'is', null)
    .executeTakeFirst();

/** Returns the address that a token confirms now; null if it does not work. */
export const readEmailToken = async (
  { secrets }: Pick<Platform, 'secrets'>,
  { db, now }: { db: Reader; now: number },
  token: string,
): Promise<EmailRow | null> => {
  const [, id, expires] = /^(\d{1,15})-(\d{1,15})$/.exec(readLinkText(token)) ?? [];
  if (id === undefined || Number(expires) <= now) return null;
  const email = await loadUnconfirmed(db, Number(id));
  if (email === undefined) return null;
  return isSignedLink(secrets.session_key, purpose, token, email.email) ? email : null;
};

/** Tells the address of the account of another one, which can reset the password. */
const notifyOwner = async (platform: Platform, tx: Tx, { id, user_id }: EmailRow): Promise<void> => {
  if (!isMailOn(platform)) return;
  const user = await tx.db
    .selectFrom('users')
    .select('email_unchecked')
    .where('id', '=', user_id)
    .executeTakeFirst();
  // An unconfirmed address gets no other mail, because it may belong to a stranger.
  if (platform.config.confirm_addresses && user?.email_unchecked === 1) return;
  const mail = { kind: emailAddedKind, event_key: `email-${id}`, reason: 'account', target_id: id };
  await enqueueMails(tx, [{ user_id, ...mail }]);
};

const unusableLink = (): Error =>
  invalid({ token: ['has expired or was used already: request another one'] });

/**
 * Confirms a secondary address by the link of its mail, accepts the invitations of the address, and notifies the
 * account's primary address.
 * @throws Failure 400 for a link that does not work, or an address that another account uses meanwhile
 */
export const confirmEmail = async (platform: Platform, token: string): Promise<void> => {
  const { store, clock } = platform;
  const userId = await store.write(async (tx) => {
    const email = await readEmailToken(platform, tx, token);
    if (email === null) throw unusableLink();
    // First, because it waits for an account that is about to take the address, and deletes this row.
    const confirmed = await tx.db
      .updateTable('emails')
      .set({ confirmed_at: tx.now })
      .where('id', '=', email.id)
      .where('confirmed_at', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (confirmed === undefined) throw unusableLink();
    if ((await userIdByEmail(tx.db, email.email)) !== undefined)
      throw invalid({ token: ['is for an address that another account has'] });
    await notifyOwner(platform, tx, email);
    return email.user_id;
  });
  await acceptInvitations(store, userId, clock.now());
};
