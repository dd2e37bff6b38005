/** Enqueues mails to users, in the transaction of their cause. `outgoing/mail/` sends them. */
import { sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import type { MailsTable } from '../../platform/db/schema/mail.ts';
import { enqueueAll } from '../../platform/queue/enqueue.ts';
import type { Platform } from '../platform.ts';

/** Background work that sends the pending mails of a user. */
export const sendMailWork = 'mail.send';

/** Background work that sends the mail of an invitation. */
export const sendInvitationWork = 'mail.invite';

/** Background work that sends the mail by which a further address is confirmed. */
export const sendEmailConfirmationWork = 'mail.confirm_email';

export type NewMail = Pick<MailsTable, 'user_id' | 'kind' | 'event_key' | 'reason'> &
  Partial<Pick<MailsTable, 'actor_id' | 'target_type' | 'target_id' | 'note_id'>> & { is_secret?: 0 | 1 };

/** Returns whether a mail server is configured. */
export const isMailOn = ({ config }: Pick<Platform, 'config'>): boolean => config.smtp_url !== null;

/** The work that sends the pending mails of a user: one at a time, whatever the process. */
export const sendingWork = (user_id: number, run_at?: number) => {
  const turn = `mail ${user_id}`;
  return {
    payload: { user_id },
    options: { unique_key: turn, turn, ...(run_at !== undefined && { run_at }) },
  };
};

const maxRowsPerInsert = 50;

/** Enqueues mails. A user gets one mail for an event, however often the event is handled. */
export const enqueueMails = async (tx: Tx, mails: readonly NewMail[]): Promise<void> => {
  const blank = { actor_id: null, target_type: null, target_id: null, note_id: null, is_secret: 0 as const };
  const rows = mails.map((mail) => ({ ...blank, ...mail, next_attempt_at: tx.now, created_at: tx.now }));
  const added = new Set<number>();
  for (let at = 0; at < rows.length; at += maxRowsPerInsert) {
    const inserted = await tx.db
      .insertInto('mails')
      .values(rows.slice(at, at + maxRowsPerInsert))
      .onConflict((clash) => clash.columns(['user_id', 'event_key']).doNothing())
      .returning(sql<number>`user_id`.as('user_id'))
      .execute();
    for (const { user_id } of inserted) added.add(user_id);
  }
  await enqueueAll(
    tx,
    sendMailWork,
    [...added].toSorted((a, b) => a - b).map((id) => sendingWork(id)),
  );
};
