import { indexMigration } from '../concurrent_indexes.ts';

/** The orders of lists of issues by due date, votes and title, with all that usual filters and other orders read. */
export const issueOrders = indexMigration('0195_issue_orders', [
  {
    name: 'issues_due_day',
    on: `issues (project_id, deleted_at, (coalesce(due_date, '9999-99-99')), id desc, state, due_date, confidential,
      author_id)`,
  },
  {
    name: 'issues_upvotes',
    on: 'issues (project_id, deleted_at, upvotes, id, state, milestone_id, confidential, author_id)',
  },
  {
    name: 'issues_title',
    on: 'issues (project_id, deleted_at, (lower(title)), id, state, confidential, author_id)',
  },
]);
