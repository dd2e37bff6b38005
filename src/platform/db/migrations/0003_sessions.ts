import type { MigrationText } from '../ddl_keywords.ts';

export const sessions: MigrationText = {
  name: '0003_sessions',
  statements: ({ id, text, integer, end }) => [
    `create table sessions (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      token_hash ${text} not null unique,
      provider ${text},
      ip ${text} not null,
      user_agent ${text} not null,
      created_at ${integer} not null,
      signed_in_at ${integer} not null,
      last_seen_at ${integer} not null
    ) ${end}`,
    'create index sessions_user on sessions (user_id, id)',
    'create index sessions_seen on sessions (last_seen_at)',

    `create table sign_in_failures (
      name ${text} primary key,
      failures ${integer} not null,
      first_at ${integer} not null,
      refusals ${integer} not null,
      refused_until ${integer} not null
    ) ${end}`,
    'create index sign_in_failures_first on sign_in_failures (first_at)',
  ],
};
