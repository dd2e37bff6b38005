/** Row types of the table of mails; conventions as in `database.ts`. */
import type { Generated } from 'kysely';
import type { Flag, Id, NoteableType } from './column_types.ts';

/** Subject of a mail. */
export type MailTargetType = NoteableType | 'CommitComment' | 'Pipeline' | 'Release' | 'Project';

/** Mails to users: mails to send, and the latest sent mails. */
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
  /** For a mail about the account: the secondary address that it is sent to. */
  target_id: number | null;
  note_id: number | null;
  state: Generated<'pending' | 'sent' | 'failed'>;
  attempts: Generated<number>;
  next_attempt_at: number;
  /** Why the last attempt failed. */
  error: Generated<string | null>;
  /** `Message-ID` of the message; several rows of a digest share it. */
  message_id: Generated<string | null>;
  /** As sent, for administrators; null if not yet sent, or secret. */
  subject: Generated<string | null>;
  body: Generated<string | null>;
  html: Generated<string | null>;
  /** Subject, body and HTML must not be kept. */
  is_secret: Generated<Flag>;
  created_at: number;
  sent_at: Generated<number | null>;
};

export type MailSchema = { mails: MailsTable };
