/** Pages of deploy keys, and handlers for their forms, which call the operations of the API. */
import { pageParams } from '../../../../platform/http/page.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { boolean, clearable, date, id, object, optional, text } from '../../../../platform/http/schema.ts';
import { parseTime } from '../../../../platform/time.ts';
import { createDeployKey, enableDeployKey } from '../../../../projects/deploy_keys/create.ts';
import { deleteDeployKey } from '../../../../projects/deploy_keys/delete.ts';
import { updateDeployKey } from '../../../../projects/deploy_keys/update.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { type FormProblems, attempt } from '../../parts/form.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { type View, type Visit, page, redirect } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { assignKeyProblems } from '../keys/key_problems.ts';
import { keysPath, keysView } from './list.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

const routePath = `${projectRoot}/deploy_keys`;

const administered = async ({ call }: Visit, project: unknown): Promise<Project> =>
  await findProjectFor(call, String(project), 'admin_deploy_key');

type Refused = { visit: Visit; project: Project; sent: RawParams; problems: FormProblems };

/** @param keyId null: the form that adds a key */
const refuse = async (keyId: number | null, { visit, project, sent, problems }: Refused): Promise<View> => {
  const names = ['title', 'key', 'expires_at', 'can_push'].filter((name) => sent[name] !== undefined);
  const typed = Object.fromEntries(names.map((name) => [name, fieldText(sent[name])]));
  return await keysView(visit, project, {}, { keyId, sent: typed, problems: assignKeyProblems(problems) });
};

const list = page({
  method: 'GET',
  path: routePath,
  audience: 'user',
  params: object({ ...projectPath, ...pageParams }),
  handle: async (visit, { project, ...query }) =>
    await keysView(visit, await administered(visit, project), query),
});

const add = page({
  method: 'POST',
  path: routePath,
  audience: 'user',
  params: object({
    ...projectPath,
    title: optional(text()),
    key: optional(text({ maxLength: 5_000 })),
    can_push: optional(boolean()),
    expires_at: optional(clearable(date())),
  }),
  handle: async (visit, { project: fullPath, ...sent }) => {
    const project = await administered(visit, fullPath);
    const { title, key = '', can_push = false, expires_at } = sent;
    const expiry = typeof expires_at === 'string' ? parseTime(expires_at) : null;
    const given = { title, key, can_push, expires_at: expiry };
    const problems = await attempt(async () => await createDeployKey(visit.call, project.id, given));
    if (problems !== null) return await refuse(null, { visit, project, sent, problems });
    return redirect(keysPath(project), 'The deploy key was added.');
  },
  invalid: async (visit, sent, fields) => {
    const project = await administered(visit, sent['project']);
    return await refuse(null, { visit, project, sent, problems: { text: null, fields } });
  },
});

const one = { ...projectPath, id: id() };

const change = page({
  method: 'POST',
  path: `${routePath}/:id`,
  audience: 'user',
  params: object({ ...one, title: optional(text()), can_push: optional(boolean()) }),
  handle: async (visit, { project: fullPath, id: keyId, ...sent }) => {
    const project = await administered(visit, fullPath);
    const problems = await attempt(async () => await updateDeployKey(visit.call, project.id, keyId, sent));
    if (problems !== null) return await refuse(keyId, { visit, project, sent, problems });
    return redirect(keysPath(project), 'The deploy key was saved.');
  },
  invalid: async (visit, sent, fields) => {
    const project = await administered(visit, sent['project']);
    return await refuse(Number(sent['id']), { visit, project, sent, problems: { text: null, fields } });
  },
});

const remove = page({
  method: 'POST',
  path: `${routePath}/:id/delete`,
  audience: 'user',
  params: object(one),
  handle: async (visit, { project: fullPath, id: keyId }) => {
    const project = await administered(visit, fullPath);
    await deleteDeployKey(visit.call, project.id, keyId);
    return redirect(keysPath(project), 'The deploy key was removed.');
  },
});

const enable = page({
  method: 'POST',
  path: `${routePath}/:id/enable`,
  audience: 'user',
  params: object(one),
  handle: async (visit, { project: fullPath, id: keyId }) => {
    const project = await administered(visit, fullPath);
    const { title } = await enableDeployKey(visit.call, project.id, keyId);
    return redirect(keysPath(project), `${title} may read this project.`);
  },
});

export const pages = [list, add, change, remove, enable];
