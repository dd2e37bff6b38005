/** Row types of the table of mails; conventions as in `database.ts`. */
import type { Generated } from 'kysely';
import type { Flag, Id, NoteableType } from './column_types.ts';

/** What a mail is about. */
export type MailTargetType = NoteableType | 'CommitComment' | 'Pipeline' | 'Release' | 'Project';

/** Mails to users: those to send, and the latest that were sent. */
export type MailsTable = {
  id: Id;
  user_id: number;
  /** `issue.closed`, `note.created`, `pipeline.failed`, `account.password_reset`... */
  kind: string;
  /** The cause, once per user: `event-5`. Part of the `Message-ID`. */
  event_key: string;
  /** Why the user gets it: `mentioned`, `assigned`... */
  reason: string;
  actor_id: number | null;
  /** null: the account. */
  target_type: MailTargetType | null;
  /** Of a mail about the account: the further address that it goes to. */
  target_id: number | null;
  note_id: number | null;
  state: Generated<'pending' | 'sent' | 'failed'>;
  attempts: Generated<number>;
  next_attempt_at: number;
  /** Why the last attempt failed. */
  error: Generated<string | null>;
  /** `Message-ID` of the message; several rows of a digest share it. */
  message_id: Generated<string | null>;
  /** As they were sent, for administrators; null: not yet sent, or secret. */
  subject: Generated<string | null>;
  body: Generated<string | null>;
  /** Subject and body must not be kept. */
  is_secret: Generated<Flag>;
  created_at: number;
  sent_at: Generated<number | null>;
};

export type MailSchema = { mails: MailsTable };
