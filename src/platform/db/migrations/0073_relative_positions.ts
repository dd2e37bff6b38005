import type { MigrationText } from '../ddl_keywords.ts';

/** An issue that was never moved stands where it was created (`issuePosition`). */
const position = 'coalesce(relative_position, id * 1048576)';

/** Positions of issues on boards and in lists that are ordered by hand, with an index for each such list. */
export const relativePositions: MigrationText = {
  name: '0073_relative_positions',
  statements: ({ integer }) => [
    `alter table issues add column relative_position ${integer}`,
    `create index issues_position on issues (project_id, deleted_at, (${position}), id)`,
    `create index issues_state_position on issues (project_id, deleted_at, state, (${position}), id)`,
    `create index issues_all_position on issues (deleted_at, (${position}), id)`,
  ],
};
