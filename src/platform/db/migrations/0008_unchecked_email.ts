import type { MigrationText } from '../ddl_keywords.ts';

export const uncheckedEmail: MigrationText = {
  name: '0008_unchecked_email',
  statements: ({ integer }) => [
    // 1: entered by the user and not verified.
    `alter table users add column email_unchecked ${integer} not null default 0`,
  ],
};
