/** Where runners are looked after, and which ones those are. */
import { type RawBuilder, sql } from 'kysely';
import type { RunnerOwner } from '../../../runners/create.ts';
import { runnersForGroup, runnersForProject } from '../../../runners/queries.ts';
import type { Holder } from '../ci/places.ts';

/** Over `runners`: those that may take the jobs of the place. */
export const runnersOf = (holder: Holder): RawBuilder<boolean> => {
  if (holder.scope === 'instance') return sql<boolean>`1 = 1`;
  return holder.scope === 'group' ? runnersForGroup(holder.group) : runnersForProject(holder.project);
};

/** Whose runners are made there. */
export const ownerOf = (holder: Holder): RunnerOwner => {
  if (holder.scope === 'instance') return { runner_type: 'instance_type' };
  return holder.scope === 'group'
    ? { runner_type: 'group_type', group_id: holder.group.id }
    : { runner_type: 'project_type', project_id: holder.project.id };
};
