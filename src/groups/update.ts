import { type Call, actorOf } from '../access/call.ts';
import type { Tx } from '../db/open.ts';
import { notFound } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { changesOf } from '../namespaces/changes.ts';
import { lockNamespace, takingNames } from '../namespaces/claim.ts';
import { refuseProblems } from '../namespaces/problems.ts';
import { renameRoutes } from '../namespaces/rename.ts';
import { restrictedProblem } from '../settings/governed.ts';
import type { GroupColumns } from './fields.ts';
import type { Group } from './find.ts';
import { fullPathIn, groupPathProblem, nameProblem, visibilityProblem } from './rules.ts';
import { applySharedRunners, settingProblem } from './shared_runners.ts';

export type GroupChanges = GroupColumns & { name?: string; path?: string };

/** Only what changes is looked at: an old name that today's rules refuse stays. */
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
        : (restrictedProblem(call, changes.visibility) ?? (await visibilityProblem(tx, proposal))),
  });
};

const lockWithParent = async (tx: Tx, id: number): Promise<[Group, Group | null]> => {
  const group = await lockNamespace(tx, id);
  if (group === undefined) throw notFound('Group');
  const parent = group.parent_id === null ? null : await lockNamespace(tx, group.parent_id);
  if (parent === undefined) throw notFound('Group');
  return [group, parent];
};

/** Changes a group; a new path moves all that is below it. The caller has been authorized. */
export const updateGroup = async (call: Call, id: number, wanted: GroupChanges): Promise<Group> =>
  await takingNames(call, async (tx) => {
    const [group, parent] = await lockWithParent(tx, id);
    const { changes, data } = changesOf(group, wanted);
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
      .set({ ...changes, updated_at: tx.now })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const target = { project_id: null, target_type: 'Group', target_id: id };
    await recordEvent(tx, actorOf(call), { kind: 'group.updated', ...target, data });
    return stored;
  });
