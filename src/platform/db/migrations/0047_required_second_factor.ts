import type { MigrationText } from '../ddl_keywords.ts';

const nowIn = {
  sqlite: "cast(unixepoch('subsec') * 1000 as integer)",
  postgres: 'cast(extract(epoch from now()) * 1000 as bigint)',
};

/** When a group began to require a second factor. For groups that already do, the time of the upgrade. */
export const requiredSecondFactor: MigrationText = {
  name: '0047_required_second_factor',
  statements: ({ engine, integer }) => [
    `alter table namespaces add column two_factor_required_at ${integer}`,
    `create index namespaces_two_factor_required on namespaces (id) where two_factor_required_at is not null`,
    `update namespaces set two_factor_required_at = ${nowIn[engine]} where require_two_factor_authentication = 1`,
  ],
};
