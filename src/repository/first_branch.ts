import type { Platform } from '../access/call.ts';
import { levels } from '../access/levels.ts';
import type { Tx } from '../db/open.ts';
import { firstBranchProtection } from '../settings/governed.ts';

/** Makes a branch the default one of a project that has none, and protects it as the settings say. */
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
    .returning('id')
    .executeTakeFirst();
  const protection = firstBranchProtection(settings.current);
  if (taken === undefined || protection === null) return;
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
