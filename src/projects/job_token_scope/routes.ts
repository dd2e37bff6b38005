/**
 * Endpoints of the allowlists: which jobs of other projects may read a project with their tokens, where their users
 * may.
 */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { findGroup } from '../../identity/groups/find.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import { bool, boolean, id, idOrPath, int, object, string } from '../../platform/http/schema.ts';
import { findProject, findProjectFor } from '../projects/find.ts';
import { projectShape, projectsJson } from '../projects/json.ts';
import { addToList, removeFromList, switchList } from './change.ts';
import { listedGroups, listedProjects } from './queries.ts';

const path = '/projects/:id/job_token_scope';
const project = { id: idOrPath('project') };
const shared = { area: 'job token scope', audience: 'user' } as const;

const administered = async (call: Call, id: number | string) =>
  await findProjectFor(call, id, 'admin_project');

const show = endpoint({
  method: 'GET',
  path,
  summary: 'Get the job token settings of a project',
  ...shared,
  params: object(project),
  reply: object({ inbound_enabled: bool, outbound_enabled: bool }),
  handle: async (call, params) => {
    const { job_token_list_enabled } = await administered(call, params.id);
    return { inbound_enabled: job_token_list_enabled === 1, outbound_enabled: false };
  },
});

const change = endpoint({
  method: 'PATCH',
  path,
  summary: 'Limit job token access to listed projects, or allow all projects',
  ...shared,
  status: 204,
  params: object({
    ...project,
    enabled: boolean({ description: 'false: jobs of any project, limited by the rights of their users' }),
  }),
  reply: null,
  handle: async (call, { id, enabled }) => {
    await switchList(call, (await administered(call, id)).id, enabled);
  },
});

const projects = endpoint({
  method: 'GET',
  path: `${path}/allowlist`,
  summary: 'List projects on the job token allowlist of a project',
  ...shared,
  list: true,
  params: object({ ...project, ...pageParams }),
  reply: projectShape,
  handle: async (call, params) => {
    const project = await administered(call, params.id);
    const { items, total } = await listedProjects(call, project.id, pageRequest(params));
    return { items: await projectsJson(call, items, 'basic'), total };
  },
});

const addProject = endpoint({
  method: 'POST',
  path: `${path}/allowlist`,
  summary: 'Add a project to the job token allowlist',
  ...shared,
  params: object({ ...project, target_project_id: id() }),
  reply: object({ source_project_id: int, target_project_id: int }),
  handle: async (call, params) => {
    const project = await administered(call, params.id);
    const target = await findProject(call, params.target_project_id);
    await addToList(call, { list: 'project', projectId: project.id, target: target.id });
    return { source_project_id: project.id, target_project_id: target.id };
  },
});

const removeProject = endpoint({
  method: 'DELETE',
  path: `${path}/allowlist/:target_project_id`,
  summary: 'Remove a project from the job token allowlist',
  ...shared,
  params: object({ ...project, target_project_id: id() }),
  reply: null,
  handle: async (call, params) => {
    const project = await administered(call, params.id);
    await removeFromList(call, { list: 'project', projectId: project.id, target: params.target_project_id });
  },
});

const groups = endpoint({
  method: 'GET',
  path: `${path}/groups_allowlist`,
  summary: 'List groups on the job token allowlist of a project',
  ...shared,
  list: true,
  params: object({ ...project, ...pageParams }),
  reply: object({ id: int, web_url: string, name: string }),
  handle: async (call, params) => {
    const project = await administered(call, params.id);
    const { items, total } = await listedGroups(call, project.id, pageRequest(params));
    const json = items.map(({ id: of, name, full_path }) => ({
      id: of,
      web_url: `${call.baseUrl}/groups/${full_path}`,
      name,
    }));
    return { items: json, total };
  },
});

const addGroup = endpoint({
  method: 'POST',
  path: `${path}/groups_allowlist`,
  summary: 'Add a group to the job token allowlist',
  ...shared,
  params: object({ ...project, target_group_id: id() }),
  reply: object({ source_project_id: int, target_group_id: int }),
  handle: async (call, params) => {
    const project = await administered(call, params.id);
    const target = await findGroup(call, params.target_group_id);
    await addToList(call, { list: 'group', projectId: project.id, target: target.id });
    return { source_project_id: project.id, target_group_id: target.id };
  },
});

const removeGroup = endpoint({
  method: 'DELETE',
  path: `${path}/groups_allowlist/:target_group_id`,
  summary: 'Remove a group from the job token allowlist',
  ...shared,
  params: object({ ...project, target_group_id: id() }),
  reply: null,
  handle: async (call, params) => {
    const project = await administered(call, params.id);
    await removeFromList(call, { list: 'group', projectId: project.id, target: params.target_group_id });
  },
});

export const jobTokenScopeRoutes = [
  show,
  change,
  projects,
  addProject,
  removeProject,
  groups,
  addGroup,
  removeGroup,
];
