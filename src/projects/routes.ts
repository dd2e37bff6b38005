import { sql } from 'kysely';
import { type Call, actorOf, endpoint } from '../access/call.ts';
import { badRequest, notFound } from '../errors.ts';
import { pageRequest } from '../http/page.ts';
import { boolean, clearable, id as idParam, idOrPath, object, optional, string, text } from '../http/schema.ts';
import { requireUnmodified } from '../http/unmodified.ts';
import { loadUser } from '../users/queries.ts';
import { createProject } from './create.ts';
import { columnsOf, projectParams } from './fields.ts';
import { findProject, findProjectFor } from './find.ts';
import { projectShape, projectsJson } from './json.ts';
import { listProjects, projectListParams } from './list.ts';
import { removeProject } from './remove.ts';
import { projectRows } from './rows.ts';
import { archiveProject, updateProject } from './update.ts';

const area = 'projects';
const project = idOrPath('id or full path of the project');

/** The project as it is stored now. */
const answer = async (call: Call, id: number) => {
  const row = await projectRows(call.db).where('projects.id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('Project');
  return (await projectsJson(call, [row]))[0];
};

const list = endpoint({
  method: 'GET',
  path: '/projects',
  summary: 'Projects that the caller sees',
  area,
  audience: 'optional',
  params: object(projectListParams),
  reply: projectShape,
  list: true,
  handle: async (call, params) => await listProjects(call, params),
});

const show = endpoint({
  method: 'GET',
  path: '/projects/:id',
  summary: 'One project',
  area,
  audience: 'optional',
  params: object({ id: project, statistics: optional(boolean({ description: 'accepted, without effect' })) }),
  reply: projectShape,
  handle: async (call, { id }) => await answer(call, (await findProject(call, id)).id),
});

const names = { name: optional(text()), path: optional(text()) };

const create = endpoint({
  method: 'POST',
  path: '/projects',
  summary: 'Make a project',
  area,
  audience: 'user',
  params: object({
    ...names,
    namespace_id: optional(clearable(idParam('default: the own namespace'))),
    ...projectParams,
    initialize_with_readme: optional(boolean({ description: 'accepted, without effect' })),
  }),
  reply: projectShape,
  handle: async (call, params) => {
    const { name, path, namespace_id = null } = params;
    const wanted = { ...columnsOf(params), ...(name !== undefined && { name }), ...(path !== undefined && { path }) };
    return await answer(call, await createProject(call, actorOf(call).user, namespace_id, wanted));
  },
});

const createForUser = endpoint({
  method: 'POST',
  path: '/projects/user/:user_id',
  summary: 'Make a project for a user',
  area,
  audience: 'admin',
  params: object({ user_id: idParam(), ...names, ...projectParams }),
  reply: projectShape,
  handle: async (call, params) => {
    const { user_id, name, path } = params;
    const creator = await loadUser(call.db, user_id);
    const wanted = { ...columnsOf(params), ...(name !== undefined && { name }), ...(path !== undefined && { path }) };
    return await answer(call, await createProject(call, creator, null, wanted));
  },
});
