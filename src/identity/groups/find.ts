import type { Selectable } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { type GroupAction, mayInGroup } from '../../core/access/may.ts';
import type { NamespacesTable } from '../../platform/db/schema/identity.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { selectNamespaceId } from '../namespaces/redirects.ts';
import { visibleGroups } from './visible.ts';

export type Group = Selectable<NamespacesTable>;

/** Loads a group by id or by its current or an earlier full path, in any case; null if it is missing or hidden. */
export const findGroupOrNull = async (call: Call, id: number | string): Promise<Group | null> => {
  const { db, viewer, platform } = call;
  const query = db.selectFrom('namespaces').selectAll().where(visibleGroups(viewer, platform.store.dialect));
  return (await query.where('id', '=', selectNamespaceId(id)).executeTakeFirst()) ?? null;
};

/** Like `findGroupOrNull`. @throws Failure 404 `404 Group Not Found`, also for a hidden group */
export const findGroup = async (call: Call, id: number | string): Promise<Group> => {
  const group = await findGroupOrNull(call, id);
  if (group === null) throw notFound('Group');
  return group;
};

/** Loads a group and authorizes the action. @throws Failure 404 for a hidden group, 403 without the right */
export const findGroupFor = async (call: Call, id: number | string, action: GroupAction): Promise<Group> => {
  const group = await findGroup(call, id);
  if (!mayInGroup(call.viewer, action, group)) throw forbidden();
  return group;
};
