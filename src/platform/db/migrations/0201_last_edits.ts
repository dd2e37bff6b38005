import type { MigrationText } from '../ddl_keywords.ts';

const described = ['issues', 'merge_requests'];

/**
 * Who last edited a description or a comment. The time of a comment's edit is its `updated_at`. No foreign keys:
 * validating one scans the table, and the id of a deleted user is never reused.
 */
export const lastEdits: MigrationText = {
  name: '0201_last_edits',
  statements: ({ integer }) => [
    ...described.flatMap((table) => [
      `alter table ${table} add column last_edited_at ${integer}`,
      `alter table ${table} add column last_edited_by_id ${integer}`,
    ]),
    `alter table notes add column edited_by_id ${integer}`,
  ],
};
