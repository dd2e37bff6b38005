import type { Call } from '../../core/access/call.ts';
import { levels } from '../../core/access/levels.ts';
import { mayInGroup } from '../../core/access/may.ts';
import type { Group } from './find.ts';
import { groupsAtLeast } from './visible.ts';

/** Maximum number of groups in a list to choose from. */
const maxParents = 500;

/** Lists the groups of which the caller is a member and in which they may create subgroups, by path. */
export const listParents = async (call: Call): Promise<Group[]> => {
  const { db, viewer, platform } = call;
  const rows = await db
    .selectFrom('namespaces')
    .selectAll()
    .where(groupsAtLeast(viewer, levels.master, platform.store.dialect))
    .orderBy('full_path')
    .limit(maxParents)
    .execute();
  return rows.filter((group) => mayInGroup(viewer, 'create_subgroup', group));
};
