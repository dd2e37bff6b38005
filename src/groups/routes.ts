/** Groups. `GET /groups/:id`, which answers with projects, and `GET /groups/:id/projects` are in `projects/`. */
import { sql } from 'kysely';
import { actorOf, endpoint } from '../access/call.ts';
import { notFound, nothingGiven } from '../errors.ts';
import { clearable, id as idParam, idOrPath, object, optional, string, text } from '../http/schema.ts';
import { recordEvent } from '../events/record.ts';
import { requireUnmodified } from '../http/unmodified.ts';
import { descendantsOf } from '../namespaces/ancestors.ts';

import { removeNamespace } from '../namespaces/remove.ts';
import { createGroup } from './create.ts';
import { groupColumns, groupParams } from './fields.ts';
import { findGroup, findGroupFor } from './find.ts';
import { groupJson, groupShape } from './json.ts';
import { groupListParams, listGroups } from './list.ts';
import { updateGroup } from './update.ts';

const area = 'groups';
const group = idOrPath('id or full path of the group');

const list = endpoint({
  method: 'GET',
  path: '/groups',
  summary: 'Groups that the caller belongs to; with `all_available`, all that he sees',
  area,
  audience: 'optional',
  params: object(groupListParams),
  reply: groupShape,
  list: true,
  handle: async (call, params) => await listGroups(call, params),
});

const create = endpoint({
  method: 'POST',
  path: '/groups',
  summary: 'Make a group, or below `parent_id` a subgroup',
  area,
  audience: 'user',
  params: object({ name: text(), path: text(), parent_id: optional(clearable(idParam())), ...groupParams }),
  reply: groupShape,
  handle: async (call, { name, path, parent_id = null, ...params }) =>
    await groupJson(call, await createGroup(call, { name, path, parent_id, ...groupColumns(params) })),
});

const update = endpoint({
  method: 'PUT',
  path: '/groups/:id',
  summary: 'Change a group',
  area,
  audience: 'user',
  params: object({ id: group, name: optional(text()), path: optional(text()), ...groupParams }),
  reply: groupShape,
  handle: async (call, { id, name, path, ...params }) => {
    const found = await findGroupFor(call, id, 'admin_group');
    const names = { ...(name !== undefined && { name }), ...(path !== undefined && { path }) };
    if (Object.keys({ ...names, ...params }).length === 0) {
      throw nothingGiven(['name', 'path', ...Object.keys(groupParams)]);
    }
    return await groupJson(call, await updateGroup(call, found.id, { ...names, ...groupColumns(params) }));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/groups/:id',
  summary: 'Remove a group with all groups and projects below it',
  area,
  audience: 'user',
  status: 202,
  params: object({ id: group }),
  reply: object({ message: string }),
  handle: async (call, { id }) => {
    const found = await findGroupFor(call, id, 'admin_group');
    requireUnmodified(call.header('if-unmodified-since'), found.updated_at);
    await call.write(async (tx) => {
      if (!(await removeNamespace(tx, found.id))) throw notFound('Group');
      const target = { project_id: null, target_type: 'Group', target_id: found.id };
      const data = { full_path: found.full_path };
      await recordEvent(tx, actorOf(call), { kind: 'group.removed', ...target, data });
    });
    return { message: '202 Accepted' };
  },
});

const subgroups = endpoint({
  method: 'GET',
  path: '/groups/:id/subgroups',
  summary: 'Groups directly below a group',
  area,
  audience: 'optional',
  params: object({ id: group, ...groupListParams }),
  reply: groupShape,
  list: true,
  handle: async (call, params) => {
    const { id } = await findGroup(call, params.id);
    return await listGroups(call, params, sql<boolean>`namespaces.parent_id = ${id}`);
  },
});

const descendants = endpoint({
  method: 'GET',
  path: '/groups/:id/descendant_groups',
  summary: 'Groups below a group, however deep',
  area,
  audience: 'optional',
  params: object({ id: group, ...groupListParams }),
  reply: groupShape,
  list: true,
  handle: async (call, params) => {
    const { id } = await findGroup(call, params.id);
    const below = sql<boolean>`namespaces.id <> ${id} and namespaces.id in ${descendantsOf(id)}`;
    return await listGroups(call, params, sql<boolean>`(${below})`);
  },
});

export const groupRoutes = [list, create, update, remove, subgroups, descendants];
