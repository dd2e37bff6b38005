/** Links of mails about an account. They are signed and expire; the service stores nothing for them. */
import {
  type LinkPurpose,
  isSignedLink,
  readLinkText,
  signLink,
} from '../../core/access/credentials/signed_links.ts';
import type { Platform } from '../../core/platform.ts';
import type { Reader } from '../../platform/db/open.ts';
import { invalid } from '../../platform/errors.ts';
import { dayMilliseconds, hourMilliseconds } from '../../platform/time.ts';
import { findConfirmedAddress } from '../users/addresses/further_addresses.ts';

export type AccountPurpose = Exclude<LinkPurpose, 'unsubscribe' | 'feed' | 'invitation' | 'confirm_email'>;

/** Kinds of mails about an account, by purpose. */
export const accountMailKinds = {
  password_reset: 'account.password_reset',
  confirm_address: 'account.confirm_address',
} as const satisfies Record<AccountPurpose, string>;

/** Kind of the mail that notifies a user about a secondary address of their account. */
export const emailAddedKind = 'account.email_added';

/** Milliseconds for which a link works. */
const lifetimes: Record<AccountPurpose, number> = {
  password_reset: 2 * hourMilliseconds,
  confirm_address: 3 * dayMilliseconds,
};

type Facts = { email: string; password_hash: string | null };

/** A link is bound to the address, and a reset link also to the password: the first use invalidates it. */
const boundOf = (purpose: AccountPurpose, { email, password_hash }: Facts): string =>
  purpose === 'password_reset' ? `${email} ${password_hash ?? ''}` : email;

/** Recipient of a link. @property email_id id of the secondary address it is sent to; null: the account's address */
export type LinkOwner = { user_id: number; email_id: number | null };

const loadFacts = async (db: Reader, { user_id, email_id }: LinkOwner): Promise<Facts | undefined> => {
  const user = await db
    .selectFrom('users')
    .select(['email', 'password_hash'])
    .where('id', '=', user_id)
    .where('state', '=', 'active')
    .where('ghost', '=', 0)
    .executeTakeFirst();
  if (user === undefined || email_id === null) return user;
  const further = await findConfirmedAddress(db, user_id, email_id);
  return further && { ...user, ...further };
};

/**
 * Makes the token of a link that was requested at a time.
 * @returns the token, and the address that it goes to; null if it has expired, or the user or the address is gone
 */
export const makeLinkToken = async (
  { secrets, store, clock }: Platform,
  purpose: AccountPurpose,
  { requested_at, ...owner }: LinkOwner & { requested_at: number },
): Promise<{ token: string; email: string } | null> => {
  const expires = requested_at + lifetimes[purpose];
  const facts = await loadFacts(store.db, owner);
  if (facts === undefined || expires <= clock.now()) return null;
  const { user_id, email_id } = owner;
  const text = `${user_id}-${expires}${email_id === null ? '' : `-${email_id}`}`;
  const token = signLink(secrets.session_key, purpose, text, boundOf(purpose, facts));
  return { token, email: facts.email };
};

export const expiredLink = (): Error =>
  invalid({ token: ['has expired or was used already: request another one'] });

/** Returns whose token it is, if it is valid now; null if it is not. */
export const readLinkToken = async (
  { secrets }: Pick<Platform, 'secrets'>,
  { db, now }: { db: Reader; now: number },
  purpose: AccountPurpose,
  token: string,
): Promise<LinkOwner | null> => {
  const [, id, expires, emailId] = /^(\d{1,15})-(\d{1,15})(?:-(\d{1,15}))?$/.exec(readLinkText(token)) ?? [];
  if (id === undefined || Number(expires) <= now) return null;
  const owner = { user_id: Number(id), email_id: emailId === undefined ? null : Number(emailId) };
  const facts = await loadFacts(db, owner);
  if (facts === undefined) return null;
  return isSignedLink(secrets.session_key, purpose, token, boundOf(purpose, facts)) ? owner : null;
};
