/** Pages of deploy keys, and handlers for their forms, which call the operations of the API. */
import { pageParams } from '../../../../platform/http/page.ts';
import { boolean, clearable, date, id, object, optional, text } from '../../../../platform/http/schema.ts';
import { parseTime } from '../../../../platform/time.ts';
import { createDeployKey, enableDeployKey } from '../../../../projects/deploy_keys/create.ts';
import { deleteDeployKey } from '../../../../projects/deploy_keys/delete.ts';
import { updateDeployKey } from '../../../../projects/deploy_keys/update.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { type Visit, page, redirect } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { assignKeyProblems } from '../keys/key_problems.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { fromSent, keysPath, keysView } from './list.ts';

const routePath = `${projectRoot}/deploy_keys`;

const administered = async ({ call }: Visit, { project }: { project: string }): Promise<Project> =>
  await findProjectFor(call, project, 'admin_deploy_key');

const list = page({
  method: 'GET',
  path: routePath,
  audience: 'user',
  params: object({ ...projectPath, ...pageParams }),
  handle: async (visit, params) => await keysView(visit, await administered(visit, params), params),
});

const add = formPage({
  path: routePath,
  audience: 'user',
  address: projectPath,
  fields: {
    title: optional(text()),
    key: optional(text({ maxLength: 5_000 })),
    can_push: optional(boolean()),
    expires_at: optional(clearable(date())),
  },
  find: administered,
  fromSent,
  toProblems: assignKeyProblems,
  run: async ({ call }, project, { title, key = '', can_push = false, expires_at }) => {
    const expiry = typeof expires_at === 'string' ? parseTime(expires_at) : null;
    await createDeployKey(call, project.id, { title, key, can_push, expires_at: expiry });
    return redirect(keysPath(project), 'The deploy key was added.');
  },
  view: async (visit, project, state) => await keysView(visit, project, {}, { keyId: null, ...state }),
});

const one = { ...projectPath, id: id() };

const change = formPage({
  path: `${routePath}/:id`,
  audience: 'user',
  address: one,
  fields: { title: optional(text()), can_push: optional(boolean()) },
  find: async (visit, address) => ({ project: await administered(visit, address), keyId: address.id }),
  fromSent,
  toProblems: assignKeyProblems,
  run: async ({ call }, { project, keyId }, { title, can_push }) => {
    await updateDeployKey(call, project.id, keyId, { title, can_push });
    return redirect(keysPath(project), 'The deploy key was saved.');
  },
  view: async (visit, { project, keyId }, state) => await keysView(visit, project, {}, { keyId, ...state }),
});

const remove = page({
  method: 'POST',
  path: `${routePath}/:id/delete`,
  audience: 'user',
  params: object(one),
  handle: async (visit, { id: keyId, ...address }) => {
    const project = await administered(visit, address);
    await deleteDeployKey(visit.call, project.id, keyId);
    return redirect(keysPath(project), 'The deploy key was removed.');
  },
});

const enable = page({
  method: 'POST',
  path: `${routePath}/:id/enable`,
  audience: 'user',
  params: object(one),
  handle: async (visit, { id: keyId, ...address }) => {
    const project = await administered(visit, address);
    const { title } = await enableDeployKey(visit.call, project.id, keyId);
    return redirect(keysPath(project), `The key ${title} was enabled. It may read this project.`);
  },
});

export const pages = [list, add, change, remove, enable];
