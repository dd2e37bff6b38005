/** Where runners are managed, and which runners each place shows. */
import { type RawBuilder, sql } from 'kysely';
import type { RunnerOwner } from '../../../../ci/runners/registration/create.ts';
import { runnersForGroup, runnersForProject } from '../../../../ci/runners/lists/queries.ts';
import type { Holder } from '../ci/settings_owner.ts';

/** Condition over `runners`: those that may take the jobs of the place. */
export const runnersOf = (holder: Holder): RawBuilder<boolean> => {
  if (holder.scope === 'instance') return sql<boolean>`1 = 1`;
  return holder.scope === 'group' ? runnersForGroup(holder.group) : runnersForProject(holder.project);
};

/** Owner of runners created in the place. */
export const ownerOf = (holder: Holder): RunnerOwner => {
  if (holder.scope === 'instance') return { runner_type: 'instance_type' };
  return holder.scope === 'group'
    ? { runner_type: 'group_type', group_id: holder.group.id }
    : { runner_type: 'project_type', project_id: holder.project.id };
};
