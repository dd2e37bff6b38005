/** Selects the runners that the runner list of an owner shows. */
import { type RawBuilder, sql } from 'kysely';
import type { RunnerOwner } from '../../../../ci/runners/registration/create.ts';
import { runnersForGroup, runnersForProject } from '../../../../ci/runners/lists/queries.ts';
import type { SettingsOwner } from '../ci/owner_settings_routes.ts';

/** Condition over `runners`: runners that may run jobs of the owner. */
export const runnersOf = (owner: SettingsOwner): RawBuilder<boolean> => {
  if (owner.scope === 'instance') return sql<boolean>`1 = 1`;
  return owner.scope === 'group' ? runnersForGroup(owner.group) : runnersForProject(owner.project);
};

/** Owner of runners created from the list. */
export const ownerOf = (owner: SettingsOwner): RunnerOwner => {
  if (owner.scope === 'instance') return { runner_type: 'instance_type' };
  return owner.scope === 'group'
    ? { runner_type: 'group_type', group_id: owner.group.id }
    : { runner_type: 'project_type', project_id: owner.project.id };
};
