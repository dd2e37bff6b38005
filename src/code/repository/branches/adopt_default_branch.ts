import type { Platform } from '../../../core/platform.ts';
import { levels } from '../../../core/access/levels.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { groupBranchProtection } from '../../../identity/groups/inherited_options.ts';
import { getFirstBranchProtection } from '../../../core/settings/setting_effects.ts';

/** Sets the default branch of a project that has none, and protects it as its groups or the settings require. */
export const adoptDefaultBranch = async (
  tx: Tx,
  { settings }: Pick<Platform, 'settings'>,
  project_id: number,
  name: string,
): Promise<void> => {
  const adopted = await tx.db
    .updateTable('projects')
    .set({ default_branch: name, last_activity_at: tx.now, repository_written: 1 })
    .where('id', '=', project_id)
    .where('default_branch', 'is', null)
    .returning('namespace_id')
    .executeTakeFirst();
  if (adopted === undefined) return;
  const level = await groupBranchProtection(tx.db, adopted.namespace_id);
  const { default_branch_protection } = settings.current;
  const protection = getFirstBranchProtection({
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
