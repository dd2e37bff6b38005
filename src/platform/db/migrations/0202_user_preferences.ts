import type { MigrationText } from '../ddl_keywords.ts';

/** How users prefer pages, such as their colors. */
export const userPreferences: MigrationText = {
  name: '0202_user_preferences',
  statements: ({ text, integer, end }) => [
    `create table user_preferences (
      user_id ${integer} not null primary key references users (id) on delete cascade,
      choices ${text} not null
    ) ${end}`,
  ],
};
