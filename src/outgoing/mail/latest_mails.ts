/** The latest mails, and test mails, for administrators. */
import { type Call, requireUser } from '../../core/access/call.ts';
import { enqueueMails, isMailOn } from '../../core/mail/enqueue_mails.ts';
import type { Reader } from '../../platform/db/open.ts';
import { Failure, notFound } from '../../platform/errors.ts';
import { testMailKind } from './account_mails.ts';
import { maxKeptMails } from './mail_rows.ts';

const selectMails = (db: Reader) =>
  db
    .selectFrom('mails')
    .innerJoin('users', 'users.id', 'mails.user_id')
    .select([
      'mails.id',
      'mails.kind',
      'mails.reason',
      'mails.state',
      'mails.attempts',
      'mails.next_attempt_at',
      'mails.error',
      'mails.message_id',
      'mails.subject',
      'mails.is_secret',
      'mails.created_at',
      'mails.sent_at',
      'users.username',
      'users.email',
    ]);

/** A mail in the list, without its text. */
export type LatestMail = Awaited<ReturnType<typeof listLatestMails>>[number];

/** Lists the latest mails, newest first. Those about confidential records and accounts have neither subject nor text. */
export const listLatestMails = async (db: Reader) =>
  await selectMails(db).orderBy('mails.id', 'desc').limit(maxKeptMails).execute();

export type KeptMail = Awaited<ReturnType<typeof findMail>>;

/** @throws Failure 404 */
export const findMail = async (db: Reader, id: number) => {
  const mail = await selectMails(db)
    .select(['mails.body', 'mails.html'])
    .where('mails.id', '=', id)
    .executeTakeFirst();
  if (mail === undefined) throw notFound('Mail');
  return mail;
};

/** Enqueues a test mail to the caller. @throws Failure 422 if no mail server is configured */
export const sendTestMail = async (call: Call): Promise<void> => {
  if (!isMailOn(call.platform)) {
    const message = 'No mail server is configured';
    throw new Failure('unprocessable', { message, error: message });
  }
  const { id } = requireUser(call);
  await call.write(
    async (tx) =>
      await enqueueMails(tx, [
        { user_id: id, kind: testMailKind, event_key: `test-${tx.now}`, reason: 'requested' },
      ]),
  );
};
