import { type Call, requireActor } from '../../core/access/call.ts';
import { levels } from '../../core/access/levels.ts';
import { mayInGroup } from '../../core/access/may.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { SharedRunnersSetting, Visibility } from '../../platform/db/schema/column_types.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { recordEvent } from '../../core/events/record_event.ts';
import { lockNamespace, retryOnTakenName } from '../namespaces/claim_path.ts';
import { insertNamespace } from '../namespaces/create.ts';
import { insertMember } from '../namespaces/add_member.ts';
import { refuseProblems } from '../namespaces/refuse_problems.ts';
import { findVisibilityProblem } from '../../core/settings/setting_effects.ts';
import { type GroupColumns, requiredAt } from './fields.ts';
import { type Group, findGroup } from './find.ts';
import {
  type Proposal,
  fullPathIn,
  groupPathProblem,
  isWider,
  nameProblem,
  nestingProblem,
  visibilityProblem,
} from './rules.ts';
import { inheritedSetting, settingProblem } from './shared_runners.ts';

export type NewGroup = {
  name: string;
  path: string;
  parent_id: number | null;
} & GroupColumns;

/** Returns whether the caller may create a group without a parent. */
export const mayCreateGroup = (call: Call): boolean => {
  const { user } = requireActor(call);
  return call.admin || (user.can_create_group === 1 && user.external === 0);
};

/**
 * Checks that the caller may create a group there. @throws Failure 404 for a parent that the caller cannot see, 403
 * without the right
 */
const requireMayCreate = async (call: Call, parentId: number | null): Promise<void> => {
  if (parentId !== null) {
    if (!mayInGroup(call.viewer, 'create_subgroup', await findGroup(call, parentId))) throw forbidden();
    return;
  }
  if (!mayCreateGroup(call)) throw forbidden();
};

const lockParent = async (tx: Tx, id: number | null): Promise<Group | null> => {
  const parent = id === null ? null : await lockNamespace(tx, id);
  if (parent === undefined) throw notFound('Group');
  return parent;
};

/** Returns the visibility of a new group: by default the instance's, but never wider than the parent's. */
const getNewVisibility = (call: Call, { visibility }: NewGroup, parent: Group | null): Visibility => {
  if (visibility !== undefined) return visibility;
  const usual = call.settings.default_group_visibility;
  return parent !== null && isWider(usual, parent.visibility) ? parent.visibility : usual;
};

type CheckedGroup = Omit<Proposal, 'id'> & { shared_runners_setting: SharedRunnersSetting };

const check = async (call: Call, tx: Tx, requested: CheckedGroup): Promise<void> => {
  const { parent, visibility, shared_runners_setting } = requested;
  const proposal = { ...requested, id: null };
  refuseProblems({
    name: await nameProblem(tx, proposal),
    path: await groupPathProblem(tx, proposal, ''),
    parent_id: nestingProblem(parent),
    shared_runners_setting: settingProblem(parent, shared_runners_setting),
    visibility_level: findVisibilityProblem(call, visibility) ?? (await visibilityProblem(tx, proposal)),
  });
};

/** Creates a group or subgroup. The caller becomes its owner. */
export const createGroup = async (call: Call, input: NewGroup): Promise<Group> => {
  await requireMayCreate(call, input.parent_id);
  const actor = requireActor(call);
  return await retryOnTakenName(call, async (tx) => {
    const parent = await lockParent(tx, input.parent_id);
    const visibility = getNewVisibility(call, input, parent);
    const { shared_runners_setting = inheritedSetting(parent) } = input;
    await check(call, tx, { ...input, parent, visibility, shared_runners_setting });
    const id = await insertNamespace(tx, {
      description: '',
      // Attributes without an effect here.
      lfs_enabled: 0,
      ...input,
      ...requiredAt(input, tx.now),
      kind: 'group',
      parent_id: parent?.id ?? null,
      owner_id: null,
      full_path: fullPathIn(parent, input.path),
      visibility,
      shared_runners_setting,
    });
    await insertMember(tx, actor, ['Namespace', id], { user_id: actor.user.id, access_level: levels.owner });
    const data = { full_path: fullPathIn(parent, input.path), visibility };
    await recordEvent(tx, actor, {
      kind: 'group.created',
      project_id: null,
      target_type: 'Group',
      target_id: id,
      data,
    });
    return await tx.db.selectFrom('namespaces').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  });
};
