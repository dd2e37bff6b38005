import type { MigrationText } from '../ddl_keywords.ts';

/** Who pushed a version of a merge request; null: unknown, as for versions of before. */
export const versionPushers: MigrationText = {
  name: '0146_version_pushers',
  statements: ({ integer }) => [
    `alter table merge_request_diffs add column pushed_by_id ${integer} references users (id) on delete set null`,
    'create index merge_request_diffs_pusher on merge_request_diffs (pushed_by_id) where pushed_by_id is not null',
  ],
};
