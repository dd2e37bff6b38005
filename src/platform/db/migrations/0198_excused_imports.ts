import type { MigrationText } from '../ddl_keywords.ts';

/** Attempts of an import that do not count towards giving up: the number of an attempt never falls. */
export const excusedImports: MigrationText = {
  name: '0198_excused_imports',
  statements: ({ integer }) => [
    `alter table project_imports add column excused_attempts ${integer} not null default 0`,
  ],
};
