/** Endpoints that share projects and groups with groups. */
import { endpoint } from '../../core/access/endpoint.ts';
import { findGroup } from '../../identity/groups/find.ts';
import { groupJson, groupShape } from '../../identity/groups/json.ts';
import {
  clearable,
  day,
  id as idParam,
  idOrPath,
  int,
  integer,
  nullable,
  object,
  optional,
  string,
} from '../../platform/http/schema.ts';
import { type SourceKind, groupSource, projectSource } from './member_source.ts';
import { shareWithGroup, unshareWithGroup } from './share.ts';

const area = 'members';

const params = ({ noun }: SourceKind) => ({
  id: idOrPath(`id or full path of the ${noun}`),
  group_id: idParam('group whose members receive a role'),
  group_access: integer({ description: "maximum role of the group's members" }),
  expires_at: optional(clearable(day('expires at 00:00 UTC on this day'))),
});

const shareProject = endpoint({
  method: 'POST',
  path: '/projects/:id/share',
  summary: 'Share a project with a group',
  area,
  audience: 'user',
  params: object(params(projectSource)),
  reply: object({
    id: int,
    project_id: int,
    group_id: int,
    group_access: int,
    expires_at: nullable(string),
  }),
  handle: async (call, { id, expires_at = null, ...share }) => {
    const source = await projectSource.find(call, id);
    const made = await shareWithGroup(call, projectSource, source, { ...share, expires_at });
    return { ...made, project_id: source.id };
  },
});

const shareGroup = endpoint({
  method: 'POST',
  path: '/groups/:id/share',
  summary: 'Share a group with another group',
  area,
  audience: 'user',
  params: object(params(groupSource)),
  reply: groupShape,
  handle: async (call, { id, expires_at = null, ...share }) => {
    const source = await groupSource.find(call, id);
    await shareWithGroup(call, groupSource, source, { ...share, expires_at });
    return await groupJson(call, await findGroup(call, source.id));
  },
});

const unshare = (kind: SourceKind) =>
  endpoint({
    method: 'DELETE',
    path: `/${kind.plural}/:id/share/:group_id`,
    summary: `Stop sharing a ${kind.noun} with a group`,
    area,
    audience: 'user',
    params: object({ id: idOrPath(`id or full path of the ${kind.noun}`), group_id: idParam() }),
    reply: null,
    handle: async (call, { id, group_id }) =>
      await unshareWithGroup(call, await kind.find(call, id), group_id),
  });

export const shareRoutes = [shareProject, shareGroup, unshare(projectSource), unshare(groupSource)];
