import type { Platform } from '../access/call.ts';
import { levels } from '../access/levels.ts';
import type { Tx } from '../db/open.ts';
import { groupBranchProtection } from '../groups/inherited.ts';
import { firstBranchProtection } from '../settings/governed.ts';

/** Makes a branch the default one of a project that has none, and protects it as its groups or the settings say. */
export const takeFirstBranch = async (
  tx: Tx,
  { settings }: Pick<Platform, 'settings'>,
  project_id: number,
  name: string,
): Promise<void> => {
  const taken = await tx.db
    .updateTable('projects')
    .set({ default_branch: name, last_activity_at: tx.now, repository_written: 1 })
    .where('id', '=', project_id)
    .where('default_branch', 'is', null)
    .returning('namespace_id')
    .executeTakeFirst();
  if (taken === undefined) return;
  const level = await groupBranchProtection(tx.db, taken.namespace_id);
  const { default_branch_protection } = settings.current;
  const protection = firstBranchProtection({
    default_branch_protection: level ?? default_branch_protection,
  });
  if (protection === null) return;
  await tx.db
    .insertInto('protected_branches')
    .values({
      project_id,
      name,
      push_access_level: levels[protection.push],
      merge_access_level: levels[protection.merge],
      created_at: tx.now,
    })
    .onConflict((clash) => clash.doNothing())
    .execute();
};
