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

export type AccountPurpose = Exclude<LinkPurpose, 'unsubscribe' | 'feed' | 'invitation' | 'confirm_email'>;

/** Kinds of mails about an account, by purpose. */
export const accountMailKinds = {
  password_reset: 'account.password_reset',
  confirm_address: 'account.confirm_address',
} as const satisfies Record<AccountPurpose, string>;

/** Milliseconds for which a link works. */
const lifetimes: Record<AccountPurpose, number> = {
  password_reset: 2 * 3_600_000,
  confirm_address: 3 * 86_400_000,
};

type Facts = { email: string; password_hash: string | null };

/** A link is bound to the address, and that of a reset to the password: the first use ends it. */
const boundOf = (purpose: AccountPurpose, { email, password_hash }: Facts): string =>
  purpose === 'password_reset' ? `${email} ${password_hash ?? ''}` : email;

const loadFacts = async (db: Reader, userId: number): Promise<Facts | undefined> =>
  await db
    .selectFrom('users')
    .select(['email', 'password_hash'])
    .where('id', '=', userId)
    .where('state', '=', 'active')
    .where('ghost', '=', 0)
    .executeTakeFirst();

/**
 * Makes the token of a link that was requested at a time.
 * @returns null: it has expired, or the user is gone or blocked
 */
export const makeLinkToken = async (
  { secrets, store, clock }: Platform,
  purpose: AccountPurpose,
  { user_id, requested_at }: { user_id: number; requested_at: number },
): Promise<string | null> => {
  const expires = requested_at + lifetimes[purpose];
  const facts = await loadFacts(store.db, user_id);
  if (facts === undefined || expires <= clock.now()) return null;
  return signLink(secrets.session_key, purpose, `${user_id}-${expires}`, boundOf(purpose, facts));
};

export const expiredLink = (): Error =>
  invalid({ token: ['has expired or was used already: request another one'] });

/** Returns the user of a token that is valid now; null: it is not. */
export const readLinkToken = async (
  { secrets }: Pick<Platform, 'secrets'>,
  { db, now }: { db: Reader; now: number },
  purpose: AccountPurpose,
  token: string,
): Promise<number | null> => {
  const [, id, expires] = /^(\d{1,15})-(\d{1,15})$/.exec(readLinkText(token)) ?? [];
  if (id === undefined || Number(expires) <= now) return null;
  const facts = await loadFacts(db, Number(id));
  if (facts === undefined) return null;
  return isSignedLink(secrets.session_key, purpose, token, boundOf(purpose, facts)) ? Number(id) : null;
};
