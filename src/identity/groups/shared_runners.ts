/** Returns whether instance runners run the jobs of a group. A group may forbid it for everything below. */
import type { Tx } from '../../platform/db/open.ts';
import { sql } from 'kysely';
import { type Flag, type SharedRunnersSetting, toFlag } from '../../platform/db/schema/column_types.ts';
import { selectDescendants } from '../namespaces/ancestors.ts';

type Parent = { shared_runners_setting: SharedRunnersSetting };

const forbids = (parent: Parent | null): boolean =>
  parent?.shared_runners_setting === 'disabled_and_unoverridable';

/** Returns the setting that a new group inherits. */
export const inheritedSetting = (parent: Parent | null): SharedRunnersSetting =>
  parent?.shared_runners_setting ?? 'enabled';

/** Returns why a group below `parent` cannot have this setting; null if it can. */
export const settingProblem = (parent: Parent | null, setting: SharedRunnersSetting): string | null =>
  forbids(parent) && setting !== 'disabled_and_unoverridable'
    ? 'cannot be changed because parent group does not allow it'
    : null;

/** Returns whether shared runners are on in a new project of the group. */
export const inheritedSwitch = (group: Parent): Flag => toFlag(group.shared_runners_setting === 'enabled');

/** Returns why a project of the group cannot turn shared runners on; null if it can. */
export const switchProblem = (group: Parent, enabled: Flag): string | null =>
  forbids(group) && enabled === 1 ? 'cannot be enabled because parent group does not allow it' : null;

/** Turns shared runners off below a group, as its new setting says; `enabled` changes nothing below. */
export const applySharedRunners = async (
  tx: Tx,
  groupId: number,
  setting: SharedRunnersSetting,
): Promise<void> => {
  if (setting === 'enabled') return;
  const below = selectDescendants(groupId);
  await tx.db
    .updateTable('projects')
    .set({ shared_runners_enabled: 0 })
    .where(sql<boolean>`projects.namespace_id in ${below}`)
    .where('shared_runners_enabled', '=', 1)
    .execute();
  await tx.db
    .updateTable('namespaces')
    .set({ shared_runners_setting: setting })
    .where(sql<boolean>`namespaces.id in ${below}`)
    .where('id', '<>', groupId)
    .$if(setting !== 'disabled_and_unoverridable', (all) =>
      all.where('shared_runners_setting', '=', 'enabled'),
    )
    .execute();
};
