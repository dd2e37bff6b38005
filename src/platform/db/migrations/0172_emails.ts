import type { MigrationText } from '../ddl_keywords.ts';

/** Further addresses of users, beside the one of the account. */
export const emails: MigrationText = {
  name: '0172_emails',
  statements: ({ id, text, integer, end }) => [
    `create table emails (
      id ${id},
      user_id ${integer} not null references users (id) on delete cascade,
      email ${text} not null unique,
      confirmed_at ${integer},
      requested_at ${integer} not null,
      mailed_at ${integer},
      created_at ${integer} not null
    ) ${end}`,
    'create index emails_user on emails (user_id)',
  ],
};
