import { indexMigration } from '../concurrent_indexes.ts';

/** The orders of lists of merge requests by time of the merge, votes and title, with all that other orders read. */
export const mergeRequestOrders = indexMigration('0196_merge_request_orders', [
  {
    name: 'merge_requests_merged',
    on: 'merge_requests (project_id, deleted_at, (coalesce(merged_at, 0)), id, state)',
  },
  {
    name: 'merge_requests_upvotes',
    on: 'merge_requests (project_id, deleted_at, upvotes, id, state, milestone_id)',
  },
  {
    name: 'merge_requests_title',
    on: 'merge_requests (project_id, deleted_at, (lower(title)), id, state)',
  },
]);
