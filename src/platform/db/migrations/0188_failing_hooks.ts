import type { MigrationText } from '../ddl_keywords.ts';

/** Since when the deliveries of a hook fail; null: they do not, or have failed since before. */
export const failingHooks: MigrationText = {
  name: '0188_failing_hooks',
  statements: ({ integer }) => [
    `alter table hooks add column failing_since ${integer}`,
    'create index hooks_failing on hooks (id) where failures > 0',
  ],
};
