/** Relations of a project or group: its users, parent groups, and shares. */
import { type RawBuilder, sql } from 'kysely';
import { endpoint } from '../../core/access/endpoint.ts';
import { anyOf } from '../../core/access/visible.ts';
import { forbidden } from '../../platform/errors.ts';
import { findGroup } from '../../identity/groups/find.ts';
import { isCurrentLink, selectSharedProjects } from '../../identity/groups/group_links.ts';
import { groupListParams, listGroups } from '../../identity/groups/list.ts';
import { selectAncestors, selectGroups } from '../../identity/namespaces/ancestors.ts';
import { basicUser, basicUserShape } from '../../identity/users/json.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  idOrPath,
  int,
  integer,
  integers,
  nullable,
  object,
  oneOf,
  optional,
  string,
  text,
  texts,
  trueWords,
  unsupportedFilter,
} from '../../platform/http/schema.ts';
import { findProject } from '../projects/find.ts';
import { projectShape } from '../projects/json.ts';
import { listProjects, projectListParams } from '../projects/lists/list.ts';
import { listMembers } from './queries.ts';
import { projectSource } from './member_source.ts';

type Condition = RawBuilder<boolean>;

const area = 'projects';
const project = idOrPath('id or full path of the project');
const search = optional(text({ description: 'part of the name or path' }));
const groupShape = object({
  id: int,
  web_url: string,
  name: string,
  avatar_url: nullable(string),
  full_name: string,
  full_path: string,
});

const byId = { all_available: true, order_by: 'id', sort: 'asc' } as const;

/** Subquery: the groups with which a source of `from` is shared, with at least a role. */
const selectInvited = (now: number, from: Condition, minLevel = 0): RawBuilder<number> => sql<number>`(
  select group_id from group_links
  where ${from} and group_access >= ${minLevel} and ${isCurrentLink(now)})`;

const isDirect = (projectId: number): Condition =>
  sql<boolean>`source_type = 'Project' and source_id = ${projectId}`;

const isInherited = (namespaceId: number): Condition =>
  sql<boolean>`source_type = 'Namespace' and source_id in ${selectAncestors(namespaceId)}`;

const users = endpoint({
  method: 'GET',
  path: '/projects/:id/users',
  summary: 'List users of a project, including inherited members',
  area,
  audience: 'user',
  list: true,
  params: object({
    id: project,
    search: optional(text({ description: 'part of the name or user name' })),
    skip_users: optional(integers({ description: 'users to exclude' })),
    ...pageParams,
  }),
  reply: basicUserShape,
  handle: async (call, { id, search: query = '', skip_users, ...paging }) => {
    const source = await projectSource.find(call, id);
    if (!source.mayRead) throw forbidden();
    const filter = { query, inherited: true, now: call.now, skip_users };
    const { rows, total } = await listMembers(call.db, source, filter, pageRequest(paging));
    return { items: rows.map((row) => basicUser(row, call)), total };
  },
});

const groups = endpoint({
  method: 'GET',
  path: '/projects/:id/groups',
  summary: 'List ancestor groups of a project, optionally with groups it is shared with',
  area,
  audience: 'optional',
  list: true,
  params: object({
    id: project,
    search,
    skip_groups: optional(integers({ description: 'ids to exclude' })),
    with_shared: boolean({ default: false, description: 'include groups that the project is shared with' }),
    shared_min_access_level: optional(
      integer({ description: 'only groups with this role; requires `with_shared`' }),
    ),
    shared_visible_only: optional(boolean({ description: 'accepted: hidden groups are never listed' })),
    ...pageParams,
  }),
  reply: groupShape,
  handle: async (call, { id, with_shared, shared_min_access_level, ...filter }) => {
    const { id: projectId, namespace_id } = await findProject(call, id);
    const above = sql<boolean>`namespaces.id in ${selectAncestors(namespace_id)}`;
    const invited = selectInvited(call.now, isDirect(projectId), shared_min_access_level);
    const within = with_shared ? anyOf([above, sql`namespaces.id in ${invited}`]) : above;
    return await listGroups(call, { ...byId, ...filter }, within);
  },
});

const invitedGroups = endpoint({
  method: 'GET',
  path: '/projects/:id/invited_groups',
  summary: 'List groups a project is shared with',
  area,
  audience: 'optional',
  list: true,
  params: object({
    id: project,
    search,
    min_access_level: groupListParams.min_access_level,
    shared_min_access_level: optional(integer({ description: 'only groups with this role' })),
    relation: optional(
      texts({
        words: ['direct', 'inherited'],
        description: 'direct: shared with the project; inherited: shared with a parent group; default: both',
      }),
    ),
    order_by: oneOf(['id', 'name', 'path'], { default: 'id' }),
    sort: groupListParams.sort,
    ...pageParams,
  }),
  reply: groupShape,
  handle: async (call, { id, relation = [], shared_min_access_level, ...filter }) => {
    const { id: projectId, namespace_id } = await findProject(call, id);
    const parts: [string, Condition][] = [
      ['direct', isDirect(projectId)],
      ['inherited', isInherited(namespace_id)],
    ];
    const requested = parts.filter(([name]) => relation.length === 0 || relation.includes(name));
    const invited = requested.map(
      ([, from]) => sql<boolean>`namespaces.id in ${selectInvited(call.now, from, shared_min_access_level)}`,
    );
    return await listGroups(call, { ...filter, all_available: true }, anyOf(invited));
  },
});

const sharedProjects = endpoint({
  method: 'GET',
  path: '/groups/:id/projects/shared',
  summary: 'List projects shared with a group',
  area,
  audience: 'optional',
  list: true,
  params: object({
    id: idOrPath('id or full path of the group'),
    ...projectListParams,
    include_subgroups: optional(boolean({ description: 'include projects shared with its subgroups' })),
    with_shared: unsupportedFilter(trueWords),
  }),
  reply: projectShape,
  handle: async (call, { id, include_subgroups = false, ...params }) => {
    const group = await findGroup(call, id);
    const shared = selectSharedProjects(selectGroups(group.id, include_subgroups), call);
    return await listProjects(call, params, sql`projects.id in ${shared}`);
  },
});

export const projectUserRoutes = [users, groups, invitedGroups, sharedProjects];
