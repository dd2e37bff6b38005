import { indexMigration } from '../concurrent_indexes.ts';

/**
 * Open issues by their due date, for the daily mails; and a project's issues that have a due date, with every column
 * that lists filter or sort by.
 */
export const dueIssues = indexMigration('0185_due_issues', [
  {
    name: 'issues_due',
    on: `issues (due_date, id) where due_date is not null and state = 'opened' and deleted_at is null`,
  },
  {
    name: 'issues_project_due',
    on: `issues (project_id, deleted_at, due_date, state, created_at, updated_at, id, confidential, author_id)
      where due_date is not null`,
  },
]);
