import type { MigrationText } from '../ddl_keywords.ts';

/** Messages of administrators to everybody, shown on pages for a time. */
export const broadcastMessages: MigrationText = {
  name: '0084_broadcast_messages',
  statements: ({ id, text, integer, end }) => [
    `create table broadcast_messages (
      id ${id},
      message ${text} not null,
      starts_at ${integer} not null,
      ends_at ${integer} not null,
      color ${text},
      font ${text},
      theme ${text} not null,
      target_access_levels ${text} not null,
      target_path ${text},
      broadcast_type ${text} not null,
      dismissable ${integer} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create index broadcast_messages_ends on broadcast_messages (ends_at)',
  ],
};
