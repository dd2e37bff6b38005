import { indexMigration } from '../concurrent_indexes.ts';

/** Groups by name, and users by the day of their last activity: both lists are read a page at a time. */
export const sortedLists = indexMigration('0229_sorted_lists', [
  { name: 'namespaces_lower_name', on: 'namespaces (lower(name), id)' },
  { name: 'users_last_activity', on: 'users (last_activity_on, id) where last_activity_on is not null' },
]);
