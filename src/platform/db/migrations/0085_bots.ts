import type { MigrationText } from '../ddl_keywords.ts';

/** Users that hold the access tokens of a project or group. */
export const bots: MigrationText = {
  name: '0085_bots',
  statements: ({ text, integer, end }) => [
    `create table bots (
      user_id ${integer} primary key references users (id) on delete cascade,
      source_type ${text} not null,
      source_id ${integer} not null
    ) ${end}`,
    'create index bots_source on bots (source_type, source_id)',
  ],
};
