import { indexMigration } from '../concurrent_indexes.ts';

/** Administrators list users by their last activity; those without any come last. */
export const userActivityIndex = indexMigration('0230_user_activity_index', [
  { name: 'users_activity_order', on: `users (coalesce(last_activity_on, ''), id)` },
]);
