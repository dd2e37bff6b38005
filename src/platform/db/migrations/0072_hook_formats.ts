import type { MigrationText } from '../ddl_keywords.ts';

/** What hooks send: the payload, or a message for a chat. */
export const hookFormats: MigrationText = {
  name: '0072_hook_formats',
  statements: ({ text }) => [`alter table hooks add column format ${text} not null default 'json'`],
};
