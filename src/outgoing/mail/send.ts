/**
 * Sends the pending mails of one user, oldest first: background work with its own turn. Checks again whether the user
 * may read them. A process that dies between sending and recording sends again, with the same `Message-ID`.
 */
import { loadActingUser } from '../../core/access/background_actor.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import { isMailOn, sendMailWork, sendingWork } from '../../core/mail/enqueue_mails.ts';
import type { Platform } from '../../core/platform.ts';
import { getErrorMessage } from '../../platform/errors.ts';
import { type WorkHandler, enqueueAll } from '../../platform/queue/enqueue.ts';
import { isWithinPause } from '../../platform/time.ts';
import { getPause, isBackingOff, maxDeliveryAge } from '../hooks/backoff.ts';
import { composeAccountMail } from './account_mails.ts';
import { type Person, composeDigest, composeMail } from './compose.ts';
import {
  holdBack,
  limitWindow,
  loadPending,
  loadSentTimes,
  recordAttempt,
  recordSent,
  removeMails,
} from './mail_rows.ts';
import { notifyUsers } from './notify.ts';
import { notifyWork } from './observe.ts';
import { type MailRow, loadVisibleMailContents } from './mail_contents.ts';
import { type Message, isRefused, sendMessage } from './smtp.ts';

/** Mails of one digest. */
const maxDigest = 100;

type Recipient = { person: Person; viewer: Viewer };

const loadRecipient = async (
  { store, clock, config }: Platform,
  userId: number,
  isOfAccount: boolean,
): Promise<Recipient | null> => {
  const [acting, row] = await Promise.all([
    loadActingUser(store.db, userId, clock.now()),
    store.db
      .selectFrom('users')
      .select(['id', 'name', 'email', 'email_unchecked'])
      .where('id', '=', userId)
      .where('ghost', '=', 0)
      .executeTakeFirst(),
  ]);
  if (acting === null || row === undefined) return null;
  const { email_unchecked, ...person } = row;
  // An address that must be confirmed first gets nothing but the request to confirm it.
  if (config.confirm_addresses && email_unchecked === 1 && !isOfAccount) return null;
  return { person, viewer: acting.viewer };
};

type Parcel = { rows: MailRow[]; message: Message; isSecret: boolean };

/** Writes the message of these mails, and removes mails that must not be sent. @returns null if no mail is left */
const prepare = async (platform: Platform, rows: MailRow[]): Promise<Parcel | null> => {
  const [first] = rows;
  if (first === undefined) return null;
  const isOfAccount = first.target_type === null;
  const recipient = await loadRecipient(platform, first.user_id, isOfAccount);
  if (recipient !== null && isOfAccount) {
    const message = await composeAccountMail(platform, recipient.person, first);
    if (message !== null) return { rows, message, isSecret: first.is_secret === 1 };
  }
  const ready =
    recipient === null || isOfAccount
      ? new Map<number, never>()
      : await loadVisibleMailContents(platform.store, recipient.viewer, rows);
  await removeMails(
    platform.store,
    rows.filter(({ id }) => !ready.has(id)).map(({ id }) => id),
  );
  const mails = [...ready.values()];
  const [only] = mails;
  if (recipient === null || only === undefined) return null;
  const message =
    mails.length === 1
      ? composeMail(platform, recipient.person, only)
      : composeDigest(platform, recipient.person, mails);
  const isSecret = mails.some(({ subject, note }) => subject.is_confidential || note?.isInternal === true);
  return { rows: rows.filter(({ id }) => ready.has(id)), message, isSecret };
};

/** Sends one message and records the outcome. @returns when to try again; null: it is done */
const deliver = async (platform: Platform, { rows, message, isSecret }: Parcel): Promise<number | null> => {
  const { store, clock, log, random } = platform;
  try {
    await sendMessage(platform, message);
  } catch (error) {
    const [first] = rows;
    const attempts = (first?.attempts ?? 0) + 1;
    const isOver = isRefused(error) || clock.now() - (first?.created_at ?? 0) > maxDeliveryAge;
    const retryAt = isOver ? null : clock.now() + getPause(attempts, (random(1)[0] ?? 0) / 256);
    const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
    log.warn({ code, responseCode, mail: first?.id, attempts }, 'could not send a mail');
    await recordAttempt(store, rows, getErrorMessage(error), retryAt);
    return retryAt;
  }
  await recordSent(store, rows, message, isSecret);
  return null;
};

/** Returns whether the limit kept a mail waiting. */
const wasHeldBack = ({ attempts, next_attempt_at, created_at }: MailRow): boolean =>
  attempts === 0 && next_attempt_at > created_at;

/** Returns whether a mail waits for its next attempt, or for the limit. The first attempt is due at once. */
const mustWait = (mail: MailRow, now: number): boolean => {
  const { attempts, next_attempt_at } = mail;
  if (attempts > 0) return isBackingOff(next_attempt_at, now, attempts);
  return wasHeldBack(mail) && isWithinPause(next_attempt_at, now, limitWindow);
};

/**
 * Chooses the mails of the next message: one, or all if the limit kept them waiting or allows no other message.
 * @returns time to continue, if nothing may be sent now
 */
const chooseNext = async (
  { store, clock, config }: Platform,
  userId: number,
  pending: readonly MailRow[],
): Promise<MailRow[] | number> => {
  const [first] = pending;
  if (first === undefined) return [];
  if (mustWait(first, clock.now())) return first.next_attempt_at;
  if (first.target_type === null) return [first];
  const sent = await loadSentTimes(store, userId, clock.now());
  const left = config.mail_limit - sent.length;
  if (left <= 0) {
    const resumeAt = (sent[0] ?? clock.now()) + limitWindow;
    await holdBack(store, pending, resumeAt);
    return resumeAt;
  }
  return left === 1 || wasHeldBack(first) ? [...pending] : [first];
};

const sendAgainAt = async ({ store }: Platform, userId: number, runAt: number): Promise<void> =>
  await store.write(async (tx) => await enqueueAll(tx, sendMailWork, [sendingWork(userId, runAt)]));

const sendPending = async (platform: Platform, userId: number): Promise<void> => {
  if (!isMailOn(platform)) return;
  for (;;) {
    const pending = await loadPending(platform.store, userId, maxDigest);
    if (pending.length === 0) return;
    const next = await chooseNext(platform, userId, pending);
    if (typeof next === 'number') return await sendAgainAt(platform, userId, next);
    const parcel = await prepare(platform, next);
    const retryAt = parcel === null ? null : await deliver(platform, parcel);
    if (retryAt !== null) return await sendAgainAt(platform, userId, retryAt);
  }
};

export const mailHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  [notifyWork]: async (payload) => await notifyUsers(platform, payload),
  [sendMailWork]: async ({ user_id }) => await sendPending(platform, Number(user_id)),
});
