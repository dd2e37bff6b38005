import { indexMigration } from '../concurrent_indexes.ts';

/** Open issues by their due date, for the mails of each day. */
export const dueIssues = indexMigration('0185_due_issues', [
  {
    name: 'issues_due',
    on: `issues (due_date, id) where due_date is not null and state = 'opened' and deleted_at is null`,
  },
]);
