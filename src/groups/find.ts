import type { Selectable } from 'kysely';
import type { Call } from '../access/call.ts';
import { type GroupAction, mayInGroup } from '../access/may.ts';
import type { NamespacesTable } from '../db/schema.ts';
import { forbidden, notFound } from '../errors.ts';
import { namespaceIdOf } from '../namespaces/redirects.ts';
import { visibleGroups } from './visible.ts';

export type Group = Selectable<NamespacesTable>;

/** A group by id or full path (in any case), also by one that it had before. Hidden and missing are alike: 404 `404 Group Not Found`. */
export const findGroup = async (call: Call, id: number | string): Promise<Group> => {
  const { db, viewer, platform } = call;
  const query = db.selectFrom('namespaces').selectAll().where(visibleGroups(viewer, platform.store.words));
  const found = await query.where('id', '=', namespaceIdOf(id)).executeTakeFirst();
  if (found === undefined) throw notFound('Group');
  return found;
};

/** The group, if the caller sees it (else 404) and may do this in it (else 403). */
export const findGroupFor = async (call: Call, id: number | string, action: GroupAction): Promise<Group> => {
  const group = await findGroup(call, id);
  if (!mayInGroup(call.viewer, action, group)) throw forbidden();
  return group;
};
