import type { MigrationText } from '../ddl_keywords.ts';

/** Passkeys of users, and the challenges that were answered, so that none is answered twice. */
export const passkeys: MigrationText = {
  name: '0176_passkeys',
  statements: ({ id, text, integer, end }) => [
    `create table passkeys (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      name ${text} not null,
      credential_id ${text} not null unique,
      public_key ${text} not null,
      sign_count ${integer} not null,
      transports ${text} not null,
      created_at ${integer} not null,
      last_used_at ${integer}
    ) ${end}`,
    'create index passkeys_user on passkeys (user_id, id)',
    `create table answered_challenges (
      challenge_hash ${text} primary key,
      answered_at ${integer} not null
    ) ${end}`,
    'create index answered_challenges_time on answered_challenges (answered_at)',
  ],
};
