/** Records what became of mails, and keeps the latest for administrators. */
import { sql } from 'kysely';
import type { Store, Tx } from '../../platform/db/open.ts';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import { hourMilliseconds } from '../../platform/time.ts';
import type { MailRow } from './mail_contents.ts';
import type { Message } from './smtp.ts';

/** Sent and failed mails that are kept for administrators. */
export const maxKeptMails = 100;

/** Milliseconds for which a sent mail counts towards the limit per minute. */
export const limitWindow = 60_000;

/** A sent mail is kept for so long at least, so that its event is not mailed twice. */
const minAge = hourMilliseconds;

/** One in this many mails removes old mails. */
const trimEvery = 10;

/** Characters of a sent text that are kept. */
const maxKeptText = 5_000;

/** Characters of sent HTML that are kept. */
const maxKeptHtml = 20_000;

const trimMails = async ({ db, now }: Tx): Promise<void> => {
  const oldestKept = await db
    .selectFrom('mails')
    .select('id')
    .where(sql<boolean>`state <> 'pending'`)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(maxKeptMails)
    .executeTakeFirst();
  if (oldestKept === undefined) return;
  const older = sql<boolean>`state <> 'pending' and id <= ${oldestKept.id}`;
  await db
    .deleteFrom('mails')
    .where(older)
    .where('created_at', '<', now - minAge)
    .execute();
  await db
    .updateTable('mails')
    .set({ subject: null, body: null, html: null })
    .where(older)
    .where((is) => is.or([is('body', 'is not', null), is('html', 'is not', null)]))
    .execute();
};

/** Records that one message delivered these mails. @param isSecret neither subject nor text may be kept */
export const recordSent = async (
  { write }: Store,
  mails: readonly MailRow[],
  message: Message,
  isSecret: boolean,
): Promise<void> => {
  const ids = mails.map(({ id }) => id);
  await write(async (tx) => {
    await tx.db
      .updateTable('mails')
      .set({
        state: 'sent',
        sent_at: tx.now,
        error: null,
        message_id: message.message_id,
        is_secret: toFlag(isSecret),
        subject: isSecret ? null : message.subject,
        body: isSecret ? null : message.text.slice(0, maxKeptText),
        html: isSecret ? null : message.html.slice(0, maxKeptHtml),
      })
      .where(tx.dialect.oneOf('id', ids))
      .execute();
    if (ids.some((id) => id % trimEvery === 0)) await trimMails(tx);
  });
};

/** Records a failed attempt. @param retryAt null if the mail is given up */
export const recordAttempt = async (
  { write }: Store,
  mails: readonly MailRow[],
  error: string,
  retryAt: number | null,
): Promise<void> => {
  const ids = mails.map(({ id }) => id);
  await write(
    async ({ db, dialect }) =>
      await db
        .updateTable('mails')
        .set((is) => ({
          attempts: is('attempts', '+', 1),
          error: error.slice(0, 300),
          ...(retryAt === null ? { state: 'failed' as const } : { next_attempt_at: retryAt }),
        }))
        .where(dialect.oneOf('id', ids))
        .execute(),
  );
};

/** Lets mails wait until a time, because of the limit per minute. */
export const holdBack = async ({ write }: Store, mails: readonly MailRow[], until: number): Promise<void> => {
  const ids = mails.map(({ id }) => id);
  await write(
    async ({ db, dialect }) =>
      await db
        .updateTable('mails')
        .set({ next_attempt_at: until })
        .where(dialect.oneOf('id', ids))
        .where('attempts', '=', 0)
        .execute(),
  );
};

/** Removes mails that must not be sent: their user may no longer read them, or is blocked. */
export const removeMails = async ({ write }: Store, ids: readonly number[]): Promise<void> => {
  if (ids.length === 0) return;
  await write(
    async ({ db, dialect }) => await db.deleteFrom('mails').where(dialect.oneOf('id', ids)).execute(),
  );
};

/** Loads the oldest pending mails of a user. Mails about the account come first. */
export const loadPending = async ({ db }: Store, userId: number, limit: number): Promise<MailRow[]> =>
  await db
    .selectFrom('mails')
    .selectAll()
    .where('user_id', '=', userId)
    .where(sql<boolean>`state = 'pending'`)
    .orderBy(sql`case when target_type is null then 0 else 1 end`)
    .orderBy('id')
    .limit(limit)
    .execute();

/** Loads the times of the messages that a user got within the last minute, oldest first. */
export const loadSentTimes = async ({ db }: Store, userId: number, now: number): Promise<number[]> => {
  const rows = await db
    .selectFrom('mails')
    .select((is) => is.fn.max<number>('sent_at').as('sent_at'))
    .where('user_id', '=', userId)
    .where('sent_at', '>', now - limitWindow)
    .where('sent_at', '<=', now)
    .groupBy('message_id')
    .execute();
  return rows.map(({ sent_at }) => sent_at).toSorted((a, b) => a - b);
};
