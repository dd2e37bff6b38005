/** Endpoint of the projects of a group. */
import { sql } from 'kysely';
import { endpoint } from '../../../core/access/endpoint.ts';
import { findGroup } from '../../../identity/groups/find.ts';
import { selectSharedProjects } from '../../../identity/groups/group_links.ts';
import { boolean, idOrPath, object } from '../../../platform/http/schema.ts';
import { selectGroups } from '../../../identity/namespaces/ancestors.ts';
import { projectShape } from '../json.ts';
import { listProjects, projectListParams } from './list.ts';

export const groupProjects = endpoint({
  method: 'GET',
  path: '/groups/:id/projects',
  summary: 'List projects of a group',
  area: 'groups',
  audience: 'optional',
  params: object({
    id: idOrPath('id or full path of the group'),
    include_subgroups: boolean({ default: false, description: 'include subgroups' }),
    with_shared: boolean({ default: true, description: 'include projects shared with the group' }),
    ...projectListParams,
  }),
  reply: projectShape,
  list: true,
  handle: async (call, { id, include_subgroups, with_shared, ...params }) => {
    const target = await findGroup(call, id);
    const groups = selectGroups(target.id, include_subgroups);
    const own = sql`select own.id from projects own where own.namespace_id in ${groups}`;
    const within = with_shared
      ? sql<boolean>`projects.id in (${own} union all select * from ${selectSharedProjects(groups, call)} shared)`
      : sql<boolean>`projects.namespace_id in ${groups}`;
    return await listProjects(call, params, within);
  },
});
