import type { MigrationText } from '../ddl_keywords.ts';

/** Comments that reporters and above alone see. */
export const internalNotes: MigrationText = {
  name: '0083_internal_notes',
  statements: ({ integer }) => [`alter table notes add column internal ${integer} not null default 0`],
};
