import { type Call, requireActor } from '../../core/access/call.ts';
import type { Tx } from '../../platform/db/open.ts';
import { notFound } from '../../platform/errors.ts';
import type { Checked } from '../../platform/http/precondition.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { enqueueAvatarRemoval, hideAvatar } from '../avatars/store_avatar.ts';
import { compareColumns } from '../../core/events/compare_columns.ts';
import { lockNamespace, retryOnTakenName } from '../namespaces/claim_path.ts';
import { refuseProblems } from '../namespaces/refuse_problems.ts';
import { renameRoutes } from '../namespaces/rename.ts';
import { findVisibilityProblem } from '../../core/settings/setting_effects.ts';
import { type GroupColumns, requiredAt } from './fields.ts';
import type { Group } from './find.ts';
import { fullPathIn, groupPathProblem, nameProblem, visibilityProblem } from './rules.ts';
import { applySharedRunners, settingProblem } from './shared_runners.ts';

export type GroupChanges = GroupColumns & { name?: string; path?: string };

/** Checks only the changed attributes, so that names older than a rule stay valid. */
const check = async (
  call: Call,
  tx: Tx,
  [group, parent]: [Group, Group | null],
  changes: GroupChanges,
): Promise<void> => {
  const proposal = { ...group, ...changes, parent };
  refuseProblems({
    name: changes.name === undefined ? null : await nameProblem(tx, proposal),
    path: changes.path === undefined ? null : await groupPathProblem(tx, proposal, group.full_path),
    shared_runners_setting:
      changes.shared_runners_setting === undefined
        ? null
        : settingProblem(parent, changes.shared_runners_setting),
    visibility_level:
      changes.visibility === undefined
        ? null
        : (findVisibilityProblem(call, changes.visibility) ?? (await visibilityProblem(tx, proposal))),
  });
};

const lockWithParent = async (tx: Tx, id: number): Promise<[Group, Group | null]> => {
  const group = await lockNamespace(tx, id);
  if (group === undefined) throw notFound('Group');
  const parent = group.parent_id === null ? null : await lockNamespace(tx, group.parent_id);
  if (parent === undefined) throw notFound('Group');
  return [group, parent];
};

/** Changes a group. A new path moves everything below it. The caller must have been authorized. */
export const updateGroup = async (
  call: Call,
  id: number,
  { check: checkBefore, ...requested }: Checked<GroupChanges, Group>,
): Promise<Group> =>
  await retryOnTakenName(call, async (tx) => {
    const [group, parent] = await lockWithParent(tx, id);
    checkBefore?.(group);
    const { changes, data } = compareColumns(group, requested);
    if (Object.keys(changes).length === 0) return group;
    await check(call, tx, [group, parent], changes);
    if (changes.path !== undefined) {
      await renameRoutes(tx, id, group.full_path, fullPathIn(parent, changes.path));
    }
    if (changes.shared_runners_setting !== undefined) {
      await applySharedRunners(tx, id, changes.shared_runners_setting);
    }
    const stored = await tx.db
      .updateTable('namespaces')
      .set({ ...changes, ...requiredAt(changes, tx.now), updated_at: tx.now })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (changes.avatar !== undefined) await enqueueAvatarRemoval(tx, group.avatar);
    const target = { project_id: null, target_type: 'Group', target_id: id };
    const event = { kind: 'group.updated', ...target, data: hideAvatar(data) } as const;
    await recordEvent(tx, requireActor(call), event);
    return stored;
  });
