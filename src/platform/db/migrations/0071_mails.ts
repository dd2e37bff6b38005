import type { MigrationText } from '../ddl_keywords.ts';

/** Mails to users: those to send, and the latest that were sent. */
export const mails: MigrationText = {
  name: '0071_mails',
  statements: ({ id, text, integer, end }) => [
    `create table mails (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      kind ${text} not null,
      event_key ${text} not null,
      reason ${text} not null,
      actor_id ${integer},
      target_type ${text},
      target_id ${integer},
      note_id ${integer},
      state ${text} not null default 'pending',
      attempts ${integer} not null default 0,
      next_attempt_at ${integer} not null,
      error ${text},
      message_id ${text},
      subject ${text},
      body ${text},
      is_secret ${integer} not null default 0,
      created_at ${integer} not null,
      sent_at ${integer}
    ) ${end}`,
    'create unique index mails_event on mails (user_id, event_key)',
    `create index mails_pending on mails (user_id, id) where state = 'pending'`,
    'create index mails_sent on mails (user_id, sent_at) where sent_at is not null',
    `create index mails_finished on mails (id) where state <> 'pending'`,
  ],
};
