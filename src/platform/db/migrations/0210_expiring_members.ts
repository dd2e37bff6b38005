import { indexMigration } from '../concurrent_indexes.ts';

/** Memberships by their last day, for those that end each day. */
export const expiringMembers = indexMigration('0210_expiring_members', [
  { name: 'members_expiring', on: 'members (expires_at, id) where expires_at is not null' },
]);
