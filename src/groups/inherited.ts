/** Options that groups pass on to what is below them. */
import { sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import { ancestorsOf } from '../namespaces/ancestors.ts';

const fromNamespaceUpwards = (db: Reader, namespaceId: number) =>
  db.selectFrom('namespaces').where(sql<boolean>`namespaces.id in ${ancestorsOf(namespaceId)}`);

/** The branch with which projects begin, of the nearest group that says it; null: none does. */
export const groupDefaultBranch = async (db: Reader, namespaceId: number): Promise<string | null> => {
  const row = await fromNamespaceUpwards(db, namespaceId)
    .select('default_branch')
    .where('default_branch', 'is not', null)
    .orderBy(sql`length(full_path)`, 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.default_branch ?? null;
};

/** The protection of first branches, of the nearest group that says it; null: none does. */
export const groupBranchProtection = async (db: Reader, namespaceId: number): Promise<number | null> => {
  const row = await fromNamespaceUpwards(db, namespaceId)
    .select('default_branch_protection')
    .where('default_branch_protection', 'is not', null)
    .orderBy(sql`length(full_path)`, 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.default_branch_protection ?? null;
};

/** Whether a group, here or above, keeps projects from having members of their own. */
export const isMembershipLocked = async (db: Reader, namespaceId: number): Promise<boolean> => {
  const row = await fromNamespaceUpwards(db, namespaceId)
    .select('id')
    .where('membership_lock', '=', 1)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
};
