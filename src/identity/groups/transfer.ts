/** Moves a group, with everything below it, into another group or to the top level. Its old paths redirect. */
import { sql } from 'kysely';
import { type Call, requireActor } from '../../core/access/call.ts';
import { mayInGroup } from '../../core/access/may.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import type { Tx } from '../../platform/db/open.ts';
import { type Failure, notFound, refused } from '../../platform/errors.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import { selectDescendants } from '../namespaces/ancestors.ts';
import { lockNamespace, retryOnTakenName } from '../namespaces/claim_path.ts';
import { renameRoutes } from '../namespaces/rename.ts';
import { mayCreateGroup } from './create.ts';
import { type Group, findGroup } from './find.ts';
import { fullPathIn, groupPathProblem, isWider, nameProblem, nestingProblem, visibilities } from './rules.ts';
import { applySharedRunners, settingProblem } from './shared_runners.ts';

/** Work that copies labels and milestones of the former groups into the projects below. Payload: `namespace_id`. */
export const groupTransferredWork = 'group_transferred';

const failed = (text: string): Failure => refused(`Transfer failed: ${text}`);

const requireMayMoveTo = (call: Call, parent: Group | null): void => {
  const isAllowed =
    parent === null ? mayCreateGroup(call) : mayInGroup(call.viewer, 'create_subgroup', parent);
  if (!isAllowed) throw failed("You don't have enough permissions.");
};

/** Locks the group and its new parent. Serializes transfers: two concurrent transfers could form a cycle. */
const lockGroups = async (tx: Tx, id: number, parentId: number | null): Promise<[Group, Group | null]> => {
  await sql`select value from instance where name = 'id' ${tx.dialect.forUpdate}`.execute(tx.db);
  const locked = new Map<number, Group>();
  for (const groupId of [id, ...(parentId === null ? [] : [parentId])].toSorted((a, b) => a - b)) {
    const group = await lockNamespace(tx, groupId);
    if (group === undefined) throw notFound('Group');
    locked.set(groupId, group);
  }
  return [locked.get(id) as Group, parentId === null ? null : (locked.get(parentId) as Group)];
};

/** Returns the number of levels of groups below a group. */
const countLevelsBelow = async (tx: Tx, group: Group): Promise<number> => {
  const { rows } = await sql<{ depth: number }>`select
    max(length(full_path) - length(replace(full_path, '/', ''))) as depth
    from namespaces where id in ${selectDescendants(group.id)}`.execute(tx.db);
  return (rows[0]?.depth ?? 0) - (group.full_path.split('/').length - 1);
};

const isBelow = async (tx: Tx, group: Group, parent: Group): Promise<boolean> => {
  const row = await tx.db
    .selectFrom('namespaces')
    .select('id')
    .where('id', '=', parent.id)
    .where('id', 'in', selectDescendants(group.id))
    .executeTakeFirst();
  return row !== undefined;
};

/** Returns why the group cannot move there; null if it can. */
const findProblem = async (tx: Tx, group: Group, parent: Group | null): Promise<string | null> => {
  if (group.parent_id === (parent?.id ?? null)) {
    return parent === null
      ? 'Group is already a root group.'
      : 'Group is already associated to the parent group.';
  }
  if (parent !== null && (await isBelow(tx, group, parent)))
    return 'Cannot transfer group to one of its subgroup.';
  const proposal = { ...group, parent };
  const pathProblem = await groupPathProblem(tx, proposal, group.full_path);
  const isTaken = pathProblem === 'has already been taken' || (await nameProblem(tx, proposal)) !== null;
  if (isTaken) return 'The parent group already has a subgroup or a project with the same path.';
  if (pathProblem !== null) return `Path ${pathProblem}`;
  const nesting = nestingProblem(parent, await countLevelsBelow(tx, group));
  return nesting === null ? null : `The group ${nesting}`;
};

/** Reduces the visibility of the group, and of everything below it, to the visibility of the new parent. */
const narrowVisibility = async (tx: Tx, group: Group, parent: Group): Promise<void> => {
  const { visibility } = parent;
  const wider = visibilities.filter((one) => isWider(one, visibility));
  if (wider.length === 0) return;
  const below = selectDescendants(group.id);
  await tx.db
    .updateTable('namespaces')
    .set({ visibility })
    .where('id', 'in', below)
    .where('visibility', 'in', wider)
    .execute();
  await tx.db
    .updateTable('projects')
    .set({ visibility })
    .where('namespace_id', 'in', below)
    .where('visibility', 'in', wider)
    .execute();
};

const store = async (tx: Tx, call: Call, [group, parent]: [Group, Group | null]): Promise<Group> => {
  const { id, full_path: oldFullPath } = group;
  const full_path = fullPathIn(parent, group.path);
  await renameRoutes(tx, id, oldFullPath, full_path);
  if (parent !== null) await narrowVisibility(tx, group, parent);
  if (settingProblem(parent, group.shared_runners_setting) !== null) {
    const setting = 'disabled_and_unoverridable';
    await tx.db
      .updateTable('namespaces')
      .set({ shared_runners_setting: setting })
      .where('id', '=', id)
      .execute();
    await applySharedRunners(tx, id, setting);
  }
  const stored = await tx.db
    .updateTable('namespaces')
    .set({ parent_id: parent?.id ?? null, updated_at: tx.now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await enqueue(tx, groupTransferredWork, { namespace_id: id });
  const target = { project_id: null, target_type: 'Group', target_id: id };
  const data = { full_path: [oldFullPath, full_path], visibility: [group.visibility, stored.visibility] };
  await recordEvent(tx, requireActor(call), { kind: 'group.transferred', ...target, data });
  return stored;
};

/**
 * Moves a group that the caller owns. A narrower visibility of the new parent applies to everything below. Labels and
 * milestones of former groups that records below carry are copied in the background.
 * @param parentId null: to the top level
 * @throws Failure 404 for a hidden parent, 400 if the group cannot move there
 */
export const transferGroup = async (
  call: Call,
  id: number,
  parentId: number | string | null,
): Promise<Group> => {
  const parent = parentId === null ? null : await findGroup(call, parentId);
  requireMayMoveTo(call, parent);
  return await retryOnTakenName(call, async (tx) => {
    const locked = await lockGroups(tx, id, parent?.id ?? null);
    const problem = await findProblem(tx, ...locked);
    if (problem !== null) throw failed(problem);
    return await store(tx, call, locked);
  });
};
