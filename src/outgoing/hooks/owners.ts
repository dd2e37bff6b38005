/** Owners of hooks: a project, a group, or the instance. */
import type { Call } from '../../core/access/call.ts';
import { lockInstance } from '../../core/settings/lock_instance.ts';
import { findGroupFor } from '../../identity/groups/find.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { findProjectFor } from '../../projects/projects/find.ts';
import { holdProject } from '../../projects/projects/lock_project.ts';

export type HookOwner = { type: 'project' | 'group'; id: number } | { type: 'instance' };

/** Finds a project whose hooks the caller manages. @throws Failure 404, 403 */
export const findHookProject = async (call: Call, id: number | string): Promise<HookOwner> => ({
  type: 'project',
  id: (await findProjectFor(call, id, 'admin_hook')).id,
});

/** Finds a group whose hooks the caller manages. @throws Failure 404, 403 */
export const findHookGroup = async (call: Call, id: number | string): Promise<HookOwner> => ({
  type: 'group',
  id: (await findGroupFor(call, id, 'admin_group_hook')).id,
});

/** The columns that name the owner. */
export const ownerColumns = (owner: HookOwner): { project_id: number | null; group_id: number | null } => ({
  project_id: owner.type === 'project' ? owner.id : null,
  group_id: owner.type === 'group' ? owner.id : null,
});

export const selectOwnHooks = (db: Reader, owner: HookOwner) => {
  const query = db.selectFrom('hooks');
  if (owner.type === 'project') return query.where('project_id', '=', owner.id);
  if (owner.type === 'group') return query.where('group_id', '=', owner.id);
  return query.where('project_id', 'is', null).where('group_id', 'is', null);
};

/** Locks the owner, so that the number of its hooks does not change between check and write. */
export const lockOwner = async (tx: Tx, owner: HookOwner): Promise<void> => {
  if (owner.type === 'project') return await holdProject(tx, owner.id);
  if (owner.type === 'instance') return await lockInstance(tx);
  const query = tx.db.selectFrom('namespaces').select('id').where('id', '=', owner.id);
  await query.modifyEnd(tx.dialect.forUpdate).execute();
};
