/**
 * Endpoints of groups. `GET /groups/:id`, which includes projects, and `GET /groups/:id/projects` are in `projects/`.
 */
import { sql } from 'kysely';
import { requireActor } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound, nothingToChange } from '../../platform/errors.ts';
import {
  clearable,
  id as idParam,
  idOrPath,
  object,
  optional,
  string,
  text,
} from '../../platform/http/schema.ts';
import { recordEvent } from '../../core/events/record.ts';
import { requireUnmodified } from '../../platform/http/precondition.ts';
import { selectDescendants } from '../namespaces/ancestors.ts';

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
  summary: 'Groups that the caller belongs to; with `all_available`, all visible groups',
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
  summary: 'Create a group, or a subgroup of `parent_id`',
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
    const target = await findGroupFor(call, id, 'admin_group');
    const names = { ...(name !== undefined && { name }), ...(path !== undefined && { path }) };
    if (Object.keys({ ...names, ...params }).length === 0) {
      throw nothingToChange(['name', 'path', ...Object.keys(groupParams)]);
    }
    return await groupJson(call, await updateGroup(call, target.id, { ...names, ...groupColumns(params) }));
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
    const group = await findGroupFor(call, id, 'admin_group');
    requireUnmodified(call.header('if-unmodified-since'), group.updated_at);
    await call.write(async (tx) => {
      if (!(await removeNamespace(tx, group.id))) throw notFound('Group');
      const target = { project_id: null, target_type: 'Group', target_id: group.id };
      const data = { full_path: group.full_path };
      await recordEvent(tx, requireActor(call), { kind: 'group.removed', ...target, data });
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
    const below = sql<boolean>`namespaces.id <> ${id} and namespaces.id in ${selectDescendants(id)}`;
    return await listGroups(call, params, sql<boolean>`(${below})`);
  },
});

export const groupRoutes = [list, create, update, remove, subgroups, descendants];
