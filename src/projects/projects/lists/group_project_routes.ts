/** Endpoints that return the projects of a group. */
import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { visibleProjects } from '../../../core/access/visible.ts';
import { findGroup } from '../../../identity/groups/find.ts';
import { groupFields, groupJson } from '../../../identity/groups/json.ts';
import { array, boolean, idOrPath, object, optional } from '../../../platform/http/schema.ts';
import { selectDescendants } from '../../../identity/namespaces/ancestors.ts';
import { projectShape, projectsJson } from '../json.ts';
import { listProjects, projectListParams } from './list.ts';
import { projectRows } from '../rows.ts';

/** Number of projects included with a group; `GET /groups/:id/projects` returns them all. */
const maxEmbeddedProjects = 100;

const group = idOrPath('id or full path of the group');

const embeddedProjects = async (call: Call, groupId: number) => {
  // Whole rows of all projects would take six times as long to sort.
  const newest = call.db
    .selectFrom('projects')
    .select('projects.id')
    .where(visibleProjects(call.viewer, call.platform.store.dialect))
    .where('projects.namespace_id', '=', groupId)
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

export const groupShow = endpoint({
  method: 'GET',
  path: '/groups/:id',
  summary: 'One group, with its newest projects',
  area: 'groups',
  audience: 'optional',
  params: object({
    id: group,
    with_projects: boolean({ default: true, description: 'false: without projects' }),
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
    return { ...json, projects: await embeddedProjects(call, target.id), shared_projects: [] };
  },
});

export const ofGroup = endpoint({
  method: 'GET',
  path: '/groups/:id/projects',
  summary: 'Projects of a group',
  area: 'groups',
  audience: 'optional',
  params: object({
    id: group,
    include_subgroups: optional(boolean({ description: 'also of the groups below it' })),
    with_shared: optional(boolean({ description: 'accepted: no project is shared with a group' })),
    ...projectListParams,
  }),
  reply: projectShape,
  list: true,
  handle: async (call, params) => {
    const { id } = await findGroup(call, params.id);
    const within =
      params.include_subgroups === true
        ? sql<boolean>`projects.namespace_id in ${selectDescendants(id)}`
        : sql<boolean>`projects.namespace_id = ${id}`;
    return await listProjects(call, params, within);
  },
});
