import type { MigrationText } from '../ddl.ts';

/** Attempts of background work that ended by an outage, or before somebody asked for another try: they do not count. */
export const excusedAttempts: MigrationText = {
  name: '0037_excused_attempts',
  statements: ({ integer }) => [`alter table work add column excused_attempts ${integer} not null default 0`],
};
