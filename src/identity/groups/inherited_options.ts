/** Options that projects and subgroups inherit from their groups. */
import { sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import { selectAncestors } from '../namespaces/ancestors.ts';

const fromNamespaceUpwards = (db: Reader, namespaceId: number) =>
  db.selectFrom('namespaces').where(sql<boolean>`namespaces.id in ${selectAncestors(namespaceId)}`);

/** Returns the default branch of new projects from the nearest group that sets it; null: none does. */
export const groupDefaultBranch = async (db: Reader, namespaceId: number): Promise<string | null> => {
  const row = await fromNamespaceUpwards(db, namespaceId)
    .select('default_branch')
    .where('default_branch', 'is not', null)
    .orderBy(sql`length(full_path)`, 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.default_branch ?? null;
};

/** Returns the default branch protection from the nearest group that sets it; null: none does. */
export const groupBranchProtection = async (db: Reader, namespaceId: number): Promise<number | null> => {
  const row = await fromNamespaceUpwards(db, namespaceId)
    .select('default_branch_protection')
    .where('default_branch_protection', 'is not', null)
    .orderBy(sql`length(full_path)`, 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.default_branch_protection ?? null;
};

/** Returns whether a group, this one or one above, forbids project members. */
export const isMembershipLocked = async (db: Reader, namespaceId: number): Promise<boolean> => {
  const row = await fromNamespaceUpwards(db, namespaceId)
    .select('id')
    .where('membership_lock', '=', 1)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};

/** Returns whether the group, or one above, forbids to share what is in it with other groups. */
export const isSharingLocked = async (db: Reader, namespaceId: number): Promise<boolean> => {
  const row = await fromNamespaceUpwards(db, namespaceId)
    .select('id')
    .where('share_with_group_lock', '=', 1)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};
