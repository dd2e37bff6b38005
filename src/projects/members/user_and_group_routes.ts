/** Who and what surrounds a project or group: its users, the groups above it, and sharing. */
import { sql } from 'kysely';
import { endpoint } from '../../core/access/endpoint.ts';
import { forbidden } from '../../platform/errors.ts';
import { findGroup } from '../../identity/groups/find.ts';
import { isCurrentLink } from '../../identity/groups/group_links.ts';
import { listGroups } from '../../identity/groups/list.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
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
} from '../../platform/http/schema.ts';
import { findProject } from '../projects/find.ts';
import { projectShape } from '../projects/json.ts';
import { listProjects, projectListParams } from '../projects/lists/list.ts';
import { listMembers } from './queries.ts';
import { projectSource } from './member_source.ts';

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

type GroupQuery = { search?: string; page: number; per_page: number };

const toGroupFilter = ({ search: name, page, per_page }: GroupQuery) => ({
  ...(name !== undefined && { search: name }),
  page,
  per_page,
  all_available: true,
  order_by: 'id' as const,
  sort: 'asc' as const,
});

const users = endpoint({
  method: 'GET',
  path: '/projects/:id/users',
  summary: 'Users who are members of a project, directly, through a group above, or through a shared group',
  area,
  audience: 'user',
  list: true,
  params: object({
    id: project,
    search: optional(text({ description: 'part of the name or user name' })),
    skip_users: optional(integers({ description: 'users to leave out' })),
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
  summary: 'Groups above a project that the caller sees',
  area,
  audience: 'optional',
  list: true,
  params: object({
    id: project,
    search,
    skip_groups: optional(integers({ description: 'ids to leave out' })),
    with_shared: optional(boolean({ description: 'accepted: projects are not shared with groups' })),
    shared_min_access_level: optional(integer({ description: 'accepted, as `with_shared`' })),
    shared_visible_only: optional(boolean({ description: 'accepted, as `with_shared`' })),
    ...pageParams,
  }),
  reply: groupShape,
  handle: async (call, params) => {
    const { namespace_id } = await findProject(call, params.id);
    const above = sql<boolean>`(namespaces.kind = 'group' and namespaces.id in ${selectAncestors(namespace_id)})`;
    const { skip_groups } = params;
    const filter = { ...toGroupFilter(params), ...(skip_groups !== undefined && { skip_groups }) };
    return await listGroups(call, filter, above);
  },
});

const invitedGroups = endpoint({
  method: 'GET',
  path: '/projects/:id/invited_groups',
  summary: 'Groups with which a project is shared, as far as the caller sees them',
  area,
  audience: 'optional',
  list: true,
  params: object({
    id: project,
    search,
    min_access_level: optional(integer()),
    relation: optional(texts({ words: ['direct', 'inherited'] })),
    shared_min_access_level: optional(integer()),
    with_custom_attributes: optional(boolean()),
    order_by: optional(oneOf(['id', 'name', 'path', 'similarity'])),
    sort: optional(oneOf(['asc', 'desc'])),
    ...pageParams,
  }),
  reply: groupShape,
  handle: async (call, params) => {
    const { id: projectId } = await findProject(call, params.id);
    const shared = sql<boolean>`namespaces.id in (select group_id from group_links
      where source_type = 'Project' and source_id = ${projectId} and group_access >= ${params.min_access_level ?? 0}
        and ${isCurrentLink(call.now)})`;
    return await listGroups(call, toGroupFilter(params), shared);
  },
});

const sharedProjects = endpoint({
  method: 'GET',
  path: '/groups/:id/projects/shared',
  summary: 'Projects that are shared with a group',
  area,
  audience: 'optional',
  list: true,
  params: object({
    id: idOrPath('id or full path of the group'),
    ...projectListParams,
    include_subgroups: optional(boolean()),
    with_shared: optional(boolean()),
  }),
  reply: projectShape,
  handle: async (call, { id, ...params }) => {
    const group = await findGroup(call, id);
    const links = await call.db
      .selectFrom('group_links')
      .select('source_id')
      .where('group_id', '=', group.id)
      .where('source_type', '=', 'Project')
      .where(isCurrentLink(call.now))
      .execute();
    if (links.length === 0) return { items: [], total: 0 };
    const ids = links.map(({ source_id }) => source_id);
    return await listProjects(call, params, call.platform.store.dialect.oneOf('projects.id', ids));
  },
});

export const projectUserRoutes = [users, groups, invitedGroups, sharedProjects];
