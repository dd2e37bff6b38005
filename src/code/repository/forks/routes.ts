import { sql } from 'kysely';
import { endpoint } from '../../../core/access/endpoint.ts';
import {
  clearable,
  id as idParam,
  idOrPath,
  object,
  oneOf,
  optional,
  text,
} from '../../../platform/http/schema.ts';
import { visibilities } from '../../../identity/groups/rules.ts';
import { newProjectAnswer, projectAnswer } from '../../../projects/projects/project_response.ts';
import { findProject, findProjectFor } from '../../../projects/projects/find.ts';
import { projectShape } from '../../../projects/projects/json.ts';
import { listProjects, projectListParams } from '../../../projects/projects/lists/list.ts';
import { projectParam } from '../find_code.ts';
import { forkProject } from './fork.ts';
import { linkFork, unlinkFork } from './fork_relation.ts';

const area = 'projects';

const fork = endpoint({
  method: 'POST',
  path: '/projects/:id/fork',
  summary: 'Fork a project',
  area,
  audience: 'user',
  params: object({
    id: projectParam,
    namespace: optional(idOrPath("id or full path of the namespace; default: the caller's own")),
    namespace_id: optional(clearable(idParam())),
    namespace_path: optional(text()),
    name: optional(text()),
    path: optional(text()),
    description: optional(clearable(text({ maxLength: 2000 }))),
    visibility: optional(oneOf(visibilities)),
  }),
  reply: projectShape,
  handle: async (call, { id, namespace, namespace_id, namespace_path, ...params }) => {
    const source = await findProjectFor(call, id, 'fork_project');
    const named = [namespace_id, namespace_path, namespace].find(
      (one) => one !== undefined && one !== null && one !== '',
    );
    const request = { ...params, namespace: named ?? undefined };
    return await newProjectAnswer(call, await forkProject(call, source, request));
  },
});

const forks = endpoint({
  method: 'GET',
  path: '/projects/:id/forks',
  summary: 'List forks of a project',
  area,
  audience: 'optional',
  params: object({ id: projectParam, ...projectListParams }),
  reply: projectShape,
  list: true,
  handle: async (call, { id, ...params }) => {
    const source = await findProject(call, id);
    return await listProjects(call, params, sql<boolean>`projects.forked_from_project_id = ${source.id}`);
  },
});

const link = endpoint({
  method: 'POST',
  path: '/projects/:id/fork/:forked_from_id',
  summary: 'Create a fork relation between projects',
  area,
  audience: 'admin',
  params: object({ id: projectParam, forked_from_id: idOrPath('id or full path of the other project') }),
  reply: projectShape,
  handle: async (call, { id, forked_from_id }) => {
    const project = await findProject(call, id);
    await linkFork(call, project, await findProject(call, forked_from_id));
    return await projectAnswer(call, project.id);
  },
});

const unlink = endpoint({
  method: 'DELETE',
  path: '/projects/:id/fork',
  summary: 'Remove the fork relation of a project',
  area,
  audience: 'user',
  params: object({ id: projectParam }),
  reply: null,
  handle: async (call, { id }) => await unlinkFork(call, await findProjectFor(call, id, 'remove_project')),
});

export const forkRoutes = [fork, forks, link, unlink];
