/**
 * Requests for a link by mail, from visitors who name an address. Whether an account has it shows neither in the answer
 * nor in its time: the account is looked up in background work.
 */
import { enqueueMails } from '../../core/mail/enqueue_mails.ts';
import type { Platform } from '../../core/platform.ts';
import type { Reader } from '../../platform/db/open.ts';
import { type Payload, type WorkHandler, enqueue } from '../../platform/queue/enqueue.ts';
import { getOrigin } from '../../platform/addresses/client_origin.ts';
import { countAttempt, requireFewFailures } from '../sessions/sign_in_failures.ts';
import { hasAddress } from '../users/addresses/further_addresses.ts';
import { normalizedEmail } from '../users/rules.ts';
import { type AccountPurpose, accountMailKinds } from './links.ts';

/** Background work that looks up the account of a request. */
export const requestLinkWork = 'mail.request_link';

/** Milliseconds in which one origin may request ten links. */
const requestWindow = 600_000;

/** Milliseconds in which a user gets at most one mail of a kind, however often it is requested. */
const repeatWindow = 300_000;

const maxAddressLength = 255;

/**
 * Requests a link for the account of an address.
 * @throws Failure 429 with `Retry-After` after ten requests of one origin within ten minutes
 */
export const requestLink = async (
  { store, clock }: Platform,
  purpose: AccountPurpose,
  { email, ip }: { email: string; ip: string },
): Promise<void> => {
  const names = [`link ${getOrigin(ip)}`];
  // Most requests that are refused need no transaction.
  await requireFewFailures(store.db, names, clock.now());
  const address = normalizedEmail(email).replaceAll('\0', '').slice(0, maxAddressLength);
  await store.write(async (tx) => {
    await countAttempt(tx, names, { window: requestWindow });
    await enqueue(tx, requestLinkWork, { purpose, email: address });
  });
};

/** Finds the active account with an address, and the further address, if it is one. */
const findAccount = async (db: Reader, address: string) =>
  await db
    .selectFrom('users')
    .leftJoin('emails', (join) =>
      join
        .onRef('emails.user_id', '=', 'users.id')
        .on('emails.email', '=', address)
        .on('emails.confirmed_at', 'is not', null),
    )
    .select(['users.id', 'users.email_unchecked', 'emails.id as email_id'])
    .where(hasAddress(address))
    .where('users.state', '=', 'active')
    .where('users.ghost', '=', 0)
    .executeTakeFirst();

/** Enqueues the mail of a request, if an active account has the address. */
const handleRequest = async ({ store }: Platform, { purpose, email }: Payload): Promise<void> => {
  const kind = accountMailKinds[purpose as AccountPurpose];
  await store.write(async (tx) => {
    const user = await findAccount(tx.db, String(email).toLowerCase());
    if (user === undefined) return;
    const { id: user_id, email_id, email_unchecked } = user;
    if (purpose === 'confirm_address' && (email_unchecked === 0 || email_id !== null)) return;
    const place = email_id === null ? '' : `-${email_id}`;
    const event_key = `${String(purpose)}-${Math.floor(tx.now / repeatWindow)}${place}`.replaceAll('_', '-');
    const mail = { user_id, kind, event_key, reason: 'requested', is_secret: 1 } as const;
    await enqueueMails(tx, [{ ...mail, target_id: email_id }]);
  });
};

export const requestLinkHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  [requestLinkWork]: async (payload) => await handleRequest(platform, payload),
});
