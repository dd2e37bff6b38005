/** Sends the mails that ask to confirm a further address, to that address. */
import { isMailOn, sendEmailConfirmationWork } from '../../core/mail/enqueue_mails.ts';
import type { Platform } from '../../core/platform.ts';
import { loadUnconfirmed, makeEmailToken } from '../../identity/emails/confirm.ts';
import type { EmailRow } from '../../identity/emails/queries.ts';
import type { WorkHandler } from '../../platform/queue/enqueue.ts';
import { toMessageId, writeHtml, writeText } from './compose.ts';
import { type Message, isRefused, sendMessage } from './smtp.ts';

const compose = (platform: Platform, email: EmailRow, username: string): Message => {
  const baseUrl = platform.baseUrl();
  const headline = `Confirm that this address belongs to the account @${username}.`;
  const body = 'The link works for three days. If this is not your account, ignore this mail.';
  const footer = [
    {
      text: 'Confirm the address',
      url: `${baseUrl}/users/emails/confirmation?token=${makeEmailToken(platform, email)}`,
    },
    { text: baseUrl, url: baseUrl },
  ];
  return {
    to: email.email,
    from_name: null,
    subject: 'Confirm your e-mail address',
    text: writeText(headline, body, footer),
    html: writeHtml(headline, body, footer),
    message_id: toMessageId(baseUrl, `email-${email.id}-${email.requested_at}`),
    thread_id: null,
    headers: {},
  };
};

/** Sends the mail of an unconfirmed address. @throws the error of the server, so that the work is tried again */
const send = async (platform: Platform, id: number): Promise<void> => {
  const { store, clock, log } = platform;
  const email = await loadUnconfirmed(store.db, id);
  if (email === undefined || email.mailed_at !== null || !isMailOn(platform)) return;
  const user = await store.db
    .selectFrom('users')
    .select('username')
    .where('id', '=', email.user_id)
    .where('state', '=', 'active')
    .executeTakeFirst();
  if (user === undefined) return;
  try {
    await sendMessage(platform, compose(platform, email, user.username));
  } catch (error) {
    if (!isRefused(error)) throw error;
    log.warn({ email_id: id }, 'the mail to a further address was refused');
  }
  // Records nothing for a mail that was requested again meanwhile, because the new mail must still be sent.
  await store.write(
    async ({ db }) =>
      void (await db
        .updateTable('emails')
        .set({ mailed_at: clock.now() })
        .where('id', '=', id)
        .where('requested_at', '=', email.requested_at)
        .execute()),
  );
};

export const emailConfirmationHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  [sendEmailConfirmationWork]: async ({ email_id }) => await send(platform, Number(email_id)),
});
