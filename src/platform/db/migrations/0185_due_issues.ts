import { indexMigration } from '../concurrent_indexes.ts';

/**
 * Open issues by their due date, for the mails of each day; and the issues of a project that are due, with all that
 * lists filter and order by.
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
