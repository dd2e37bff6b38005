/**
 * Endpoints of groups. `GET /groups/:id`, which includes projects, and `GET /groups/:id/projects` are in `projects/`.
 */
import { sql } from 'kysely';
import { endpoint } from '../../core/access/endpoint.ts';
import { nothingToChange } from '../../platform/errors.ts';
import { pageParams } from '../../platform/http/page.ts';
import {
  clearable,
  id as idParam,
  idOrPath,
  object,
  optional,
  string,
  text,
} from '../../platform/http/schema.ts';
import { avatarAddress, serveAvatar } from '../avatars/serve_avatar.ts';
import { withAvatar } from '../avatars/store_avatar.ts';
import { selectDescendants } from '../namespaces/ancestors.ts';

import { createGroup } from './create.ts';
import { groupColumns, groupParams, groupParamsWithoutEffect } from './fields.ts';
import { findGroup, findGroupFor } from './find.ts';
import { groupJson, groupShape } from './json.ts';
import { groupListParams, listGroups } from './list.ts';
import { removeGroup } from './remove.ts';
import { transferGroup } from './transfer.ts';
import { updateGroup } from './update.ts';

const area = 'groups';
const group = idOrPath('id or full path of the group');

const list = endpoint({
  method: 'GET',
  path: '/groups',
  summary: 'List groups',
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
  withoutEffect: () => groupParamsWithoutEffect,
  area,
  audience: 'user',
  params: object({ name: text(), path: text(), parent_id: optional(clearable(idParam())), ...groupParams }),
  reply: groupShape,
  handle: async (call, { name, path, parent_id = null, ...params }) =>
    await withAvatar(call.platform, params.avatar, async (avatar) => {
      const columns = { ...groupColumns(params), ...avatar };
      return await groupJson(call, await createGroup(call, { name, path, parent_id, ...columns }));
    }),
});

const update = endpoint({
  method: 'PUT',
  path: '/groups/:id',
  summary: 'Update a group',
  withoutEffect: () => groupParamsWithoutEffect,
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
    return await withAvatar(call.platform, params.avatar, async (avatar) => {
      const changes = { ...names, ...groupColumns(params), ...avatar };
      return await groupJson(call, await updateGroup(call, target.id, changes));
    });
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/groups/:id',
  summary: 'Delete a group with its subgroups and projects',
  area,
  audience: 'user',
  status: 202,
  params: object({ id: group }),
  reply: object({ message: string }),
  handle: async (call, { id }) => {
    await removeGroup(call, await findGroupFor(call, id, 'admin_group'));
    return { message: '202 Accepted' };
  },
});

const transfer = endpoint({
  method: 'POST',
  path: '/groups/:id/transfer',
  summary: 'Transfer a group into another group or to the top level',
  area,
  audience: 'user',
  params: object({
    id: group,
    group_id: optional(clearable(idOrPath('id or full path of the new parent; default: the top level'))),
  }),
  reply: groupShape,
  handle: async (call, { id, group_id = null }) => {
    const { id: moved } = await findGroupFor(call, id, 'admin_group');
    return await groupJson(call, await transferGroup(call, moved, group_id));
  },
});

const transferLocations = endpoint({
  method: 'GET',
  path: '/groups/:id/transfer_locations',
  summary: 'List groups that a group can be moved to',
  area,
  audience: 'user',
  params: object({
    id: group,
    search: optional(text({ description: 'part of the name or path' })),
    ...pageParams,
  }),
  reply: groupShape,
  list: true,
  handle: async (call, { id, ...params }) => {
    const moved = await findGroupFor(call, id, 'admin_group');
    const isElsewhere = sql<boolean>`(namespaces.id not in ${selectDescendants(moved.id)}
      and namespaces.id <> ${moved.parent_id ?? 0})`;
    return await listGroups(call, { ...params, owned: true, order_by: 'name', sort: 'asc' }, isElsewhere);
  },
});

const subgroups = endpoint({
  method: 'GET',
  path: '/groups/:id/subgroups',
  summary: 'List direct subgroups of a group',
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
  summary: 'List descendant groups of a group',
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

const avatar = endpoint({
  method: 'GET',
  path: '/groups/:id/avatar',
  summary: 'Get the avatar of a group',
  area,
  audience: 'optional',
  params: object({ id: group }),
  reply: null,
  content: '*/*',
  handle: async (call, { id }) =>
    await serveAvatar(call, { avatar: (await findGroup(call, id)).avatar, caching: 'private' }),
});

const avatarFile = endpoint({
  method: 'GET',
  path: '/uploads/-/system/group/avatar/:id/:filename',
  summary: 'Get the avatar of a group by its `avatar_url`',
  area,
  audience: 'optional',
  params: avatarAddress,
  reply: null,
  content: '*/*',
  handle: async (call, { id, filename }) =>
    await serveAvatar(call, { avatar: (await findGroup(call, id)).avatar, filename, caching: 'private' }),
});

export const groupRoutes = [
  list,
  create,
  update,
  remove,
  transfer,
  transferLocations,
  subgroups,
  descendants,
  avatar,
];

/** Avatar routes outside `/api/v4`. */
export const groupAvatarRoutes = [avatarFile];
