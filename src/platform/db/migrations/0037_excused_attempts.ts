import type { MigrationText } from '../ddl_keywords.ts';

/** Counts attempts that do not lead to giving up: those that ended by an outage, or before a manual retry. */
export const excusedAttempts: MigrationText = {
  name: '0037_excused_attempts',
  statements: ({ integer }) => [`alter table work add column excused_attempts ${integer} not null default 0`],
};
