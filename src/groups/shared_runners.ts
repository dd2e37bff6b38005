/** Whether runners of the instance run the jobs of a group: a group above may forbid it for all below. */
import type { Tx } from '../db/open.ts';
import { sql } from 'kysely';
import type { Flag, SharedRunnersSetting } from '../db/schema.ts';
import { descendantsOf } from '../namespaces/ancestors.ts';

type Parent = { shared_runners_setting: SharedRunnersSetting };

const forbids = (parent: Parent | null): boolean =>
  parent?.shared_runners_setting === 'disabled_and_unoverridable';

/** The setting of a new group. */
export const inheritedSetting = (parent: Parent | null): SharedRunnersSetting =>
  parent?.shared_runners_setting ?? 'enabled';

/** Of a group below `parent`. */
export const settingProblem = (parent: Parent | null, setting: SharedRunnersSetting): string | null =>
  forbids(parent) && setting !== 'disabled_and_unoverridable'
    ? 'cannot be changed because parent group does not allow it'
    : null;

/** The switch of a new project in the group. */
export const inheritedSwitch = (group: Parent): Flag => (group.shared_runners_setting === 'enabled' ? 1 : 0);

/** Of a project in the group. */
export const switchProblem = (group: Parent, enabled: Flag): string | null =>
  forbids(group) && enabled === 1 ? 'cannot be enabled because parent group does not allow it' : null;

/** Applies a group's new setting to all groups and projects below it. */
export const applySharedRunners = async (
  tx: Tx,
  groupId: number,
  setting: SharedRunnersSetting,
): Promise<void> => {
  if (setting === 'enabled') return;
  const below = descendantsOf(groupId);
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
