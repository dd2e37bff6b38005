/** Endpoint of one group, which includes its newest projects. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { visibleProjects } from '../../../core/access/visible.ts';
import { findGroup } from '../../../identity/groups/find.ts';
import { selectSharedProjects } from '../../../identity/groups/group_links.ts';
import { groupFields, groupJson } from '../../../identity/groups/json.ts';
import { array, boolean, idOrPath, object, optional } from '../../../platform/http/schema.ts';
import { selectGroups } from '../../../identity/namespaces/ancestors.ts';
import { projectShape, projectsJson } from '../json.ts';
import { projectRows } from '../rows.ts';

/** Number of projects included with a group; `GET /groups/:id/projects` returns them all. */
const maxEmbeddedProjects = 100;

const embeddedProjects = async (call: Call, within: RawBuilder<boolean>) => {
  // Whole rows of all projects would take six times as long to sort.
  const newest = call.db
    .selectFrom('projects')
    .select('projects.id')
    .where(visibleProjects(call.viewer, call.platform.store.dialect))
    .where(within)
    .orderBy('projects.created_at', 'desc')
    .orderBy('projects.id', 'desc')
    .limit(maxEmbeddedProjects);
  const rows = await projectRows(call)
    .where('projects.id', 'in', newest)
    .orderBy('projects.created_at', 'desc')
    .orderBy('projects.id', 'desc')
    .execute();
  return await projectsJson(call, rows);
};

export const showGroup = endpoint({
  method: 'GET',
  path: '/groups/:id',
  summary: 'Get a group with its newest projects',
  area: 'groups',
  audience: 'optional',
  params: object({
    id: idOrPath('id or full path of the group'),
    with_projects: boolean({ default: true, description: 'false: omit projects' }),
  }),
  reply: object({
    ...groupFields,
    projects: optional(array(projectShape)),
    shared_projects: optional(array(projectShape)),
  }),
  handle: async (call, { id, with_projects }) => {
    const target = await findGroup(call, id);
    const json = await groupJson(call, target);
    if (!with_projects) return json;
    const shared = selectSharedProjects(selectGroups(target.id, false), call);
    return {
      ...json,
      projects: await embeddedProjects(call, sql`projects.namespace_id = ${target.id}`),
      shared_projects: await embeddedProjects(call, sql`projects.id in ${shared}`),
    };
  },
});
