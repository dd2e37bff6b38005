/** Endpoints of deploy keys: SSH keys that give access to projects instead of accounts. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { nothingToChange } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  clearable,
  id,
  idOrPath,
  object,
  optional,
  text,
  time,
} from '../../platform/http/schema.ts';
import { findProjectFor } from '../projects/find.ts';
import { createDeployKey, createSharedKey, enableDeployKey } from './create.ts';
import { deleteDeployKey, deleteKeyOfInstance } from './delete.ts';
import { deployKeyJson, deployKeyShape, sharedDeployKeyJson, sharedDeployKeyShape } from './json.ts';
import { findInProject, listAll, listProjectKeys, projectsOfKeys } from './queries.ts';
import { updateDeployKey } from './update.ts';

const path = '/projects/:id/deploy_keys';
const keyPath = `${path}/:key_id`;
const project = { id: idOrPath('project') };
const inProject = { ...project, key_id: id() };
const isPublic = optional(boolean({ description: 'true: only keys of the instance' }));

const settable = {
  title: optional(text({ description: 'default: the comment of the key' })),
  key: text({ maxLength: 5_000, description: 'one line: type, base64, comment' }),
  expires_at: optional(clearable(time('expiration time'))),
};

const shared = { area: 'deploy keys', audience: 'user', reply: deployKeyShape } as const;

const administered = (call: Call, id: number | string) => findProjectFor(call, id, 'admin_deploy_key');

const listOfInstance = endpoint({
  method: 'GET',
  path: '/deploy_keys',
  summary: 'List deploy keys of all projects and of the instance (administrators)',
  area: 'deploy keys',
  audience: 'admin',
  list: true,
  params: object({ public: isPublic, ...pageParams }),
  reply: sharedDeployKeyShape,
  handle: async ({ db }, params) => {
    const { items, total } = await listAll(db, pageRequest(params), params);
    const ids = items.map((key) => key.id);
    const projects = await projectsOfKeys(db, ids);
    return { items: items.map((key) => sharedDeployKeyJson(key, projects.get(key.id) ?? [])), total };
  },
});

const createOfInstance = endpoint({
  method: 'POST',
  path: '/deploy_keys',
  summary: 'Create a deploy key that maintainers of any project may enable (administrators)',
  area: 'deploy keys',
  audience: 'admin',
  params: object(settable),
  reply: sharedDeployKeyShape,
  handle: async (call, params) => sharedDeployKeyJson(await createSharedKey(call, params), []),
});

const removeOfInstance = endpoint({
  method: 'DELETE',
  path: '/deploy_keys/:key_id',
  summary: 'Delete a deploy key and remove it from all projects (administrators)',
  area: 'deploy keys',
  audience: 'admin',
  params: object({ key_id: id() }),
  reply: null,
  handle: async (call, params) => await deleteKeyOfInstance(call, params.key_id),
});

const list = endpoint({
  method: 'GET',
  path,
  summary: 'List deploy keys of a project',
  ...shared,
  list: true,
  params: object({ ...project, public: isPublic, ...pageParams }),
  handle: async (call, params) => {
    const project = await administered(call, params.id);
    const { items, total } = await listProjectKeys(call.db, project.id, pageRequest(params), params);
    return { items: items.map(deployKeyJson), total };
  },
});

const get = endpoint({
  method: 'GET',
  path: keyPath,
  summary: 'Get a deploy key of a project',
  ...shared,
  params: object(inProject),
  handle: async (call, params) => {
    const project = await administered(call, params.id);
    return deployKeyJson(await findInProject(call.db, project.id, params.key_id));
  },
});

const create = endpoint({
  method: 'POST',
  path,
  summary: 'Add a deploy key to a project',
  ...shared,
  params: object({
    ...project,
    ...settable,
    can_push: boolean({ default: false }),
  }),
  handle: async (call, { id, ...params }) => {
    const project = await administered(call, id);
    return deployKeyJson(await createDeployKey(call, project.id, params));
  },
});

const update = endpoint({
  method: 'PUT',
  path: keyPath,
  summary: 'Update a deploy key of a project',
  ...shared,
  params: object({ ...inProject, title: optional(text()), can_push: optional(boolean()) }),
  handle: async (call, params) => {
    if (params.title === undefined && params.can_push === undefined) {
      throw nothingToChange(['title', 'can_push']);
    }
    const project = await administered(call, params.id);
    return deployKeyJson(await updateDeployKey(call, project.id, params.key_id, params));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: keyPath,
  summary: 'Remove a deploy key from a project',
  ...shared,
  reply: null,
  params: object(inProject),
  handle: async (call, params) => {
    const project = await administered(call, params.id);
    await deleteDeployKey(call, project.id, params.key_id);
  },
});

const enable = endpoint({
  method: 'POST',
  path: `${keyPath}/enable`,
  summary: 'Enable an existing deploy key in a project',
  ...shared,
  params: object(inProject),
  handle: async (call, params) => {
    const project = await administered(call, params.id);
    return deployKeyJson(await enableDeployKey(call, project.id, params.key_id));
  },
});

export const deployKeyRoutes = [
  listOfInstance,
  createOfInstance,
  removeOfInstance,
  list,
  create,
  get,
  update,
  remove,
  enable,
];
