import type { MigrationText } from '../ddl_keywords.ts';

/** A number of each user that makes all addresses of their feeds invalid when it rises. */
export const feedTokens: MigrationText = {
  name: '0077_feed_tokens',
  statements: ({ integer }) => [`alter table users add column feed_generation ${integer} not null default 0`],
};
