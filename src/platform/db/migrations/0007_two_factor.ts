import type { MigrationText } from '../ddl_keywords.ts';

export const twoFactor: MigrationText = {
  name: '0007_two_factor',
  statements: ({ id, text, integer, end }) => [
    `alter table users add column two_factor_enabled ${integer} not null default 0`,

    `create table two_factors (
      user_id ${integer} primary key references users (id) on delete cascade,
      sealed_secret ${text} not null,
      last_step ${integer} not null,
      created_at ${integer} not null
    ) ${end}`,

    `create table recovery_codes (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      code_hash ${text} not null,
      unique (user_id, code_hash)
    ) ${end}`,

    `create table sign_in_challenges (
      token_hash ${text} primary key,
      user_id ${integer} not null references users (id) on delete cascade,
      provider ${text},
      created_at ${integer} not null
    ) ${end}`,
    'create index sign_in_challenges_created on sign_in_challenges (created_at)',
    'create index sign_in_challenges_user on sign_in_challenges (user_id)',
  ],
};
