/** The page of the lists, and handlers for its forms, which call the operations of the API. */
import { isNotFound } from '../../../../platform/errors.ts';
import { findGroup } from '../../../../identity/groups/find.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { boolean, id, object, optional, text } from '../../../../platform/http/schema.ts';
import { addToList, removeFromList, switchList } from '../../../../projects/job_token_scope/change.ts';
import { type Project, findProject, findProjectFor } from '../../../../projects/projects/find.ts';
import { fieldText } from '../../parts/fields/field_text.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { type FormProblems, problemsOf } from '../../parts/form_problems.ts';
import { type Visit, page, redirect } from '../../page.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { type ListName, fieldOf, scopePath, scopeView } from './list.ts';
import { trimSlashes } from '../../../../platform/trim.ts';

const scopeRoutePath = `${projectRoot}/job_token_scope`;

const administered = async ({ call }: Visit, project: string): Promise<Project> =>
  await findProjectFor(call, project, 'admin_project');

/** Names of the lists in the API. */
const apiNames = { projects: 'project', groups: 'group' } as const;

/** Parses a path or an id. */
const idOrPathOf = (typed: string): number | string =>
  /^\d{1,15}$/.test(typed) ? Number(typed) : trimSlashes(typed);

const targetOf = async ({ call }: Visit, list: ListName, typed: string): Promise<number> => {
  const target = idOrPathOf(typed);
  return list === 'projects' ? (await findProject(call, target)).id : (await findGroup(call, target)).id;
};

/** Reads why an entry was refused. A hidden project or group counts as missing. */
const readFailure = (list: ListName, error: unknown): FormProblems | null =>
  isNotFound(error) ? { text: null, fields: { [fieldOf(list)]: ['was not found'] } } : problemsOf(error);

const add = (list: ListName) =>
  formPage({
    path: `${scopeRoutePath}/${list}`,
    audience: 'user',
    address: projectPath,
    fields: { [fieldOf(list)]: optional(text({ maxLength: 1_000 })) },
    find: async (visit, { project }) => await administered(visit, project),
    fromSent: (sent) => fieldText(sent[fieldOf(list)]),
    readFailure: (error) => readFailure(list, error),
    toProblems: (problems) => moveUnknownToText(problems, [fieldOf(list)]),
    run: async (visit, project, params) => {
      const typed = fieldText((params as RawParams)[fieldOf(list)]).trim();
      const target = await targetOf(visit, list, typed);
      await addToList(visit.call, { list: apiNames[list], projectId: project.id, target });
      return redirect(scopePath(project), `Jobs of ${typed} have access.`);
    },
    view: async (visit, project, { values: typed, problems }) =>
      await scopeView(visit, project, { list, typed, problems }),
  });

const remove = (list: ListName) =>
  page({
    method: 'POST',
    path: `${scopeRoutePath}/${list}/:id/delete`,
    audience: 'user',
    params: object({ ...projectPath, id: id() }),
    handle: async (visit, { project: fullPath, id: target }) => {
      const project = await administered(visit, fullPath);
      await removeFromList(visit.call, { list: apiNames[list], projectId: project.id, target });
      return redirect(scopePath(project), `The ${apiNames[list]} was removed from the list.`);
    },
  });

const show = page({
  method: 'GET',
  path: scopeRoutePath,
  audience: 'user',
  params: object(projectPath),
  handle: async (visit, { project }) => await scopeView(visit, await administered(visit, project)),
});

const change = page({
  method: 'POST',
  path: scopeRoutePath,
  audience: 'user',
  // An unticked checkbox sends 0; an absent field changes nothing.
  params: object({ ...projectPath, enabled: optional(boolean()) }),
  handle: async (visit, { project: fullPath, enabled }) => {
    const project = await administered(visit, fullPath);
    if (enabled === undefined) return redirect(scopePath(project));
    await switchList(visit.call, project.id, enabled);
    return redirect(
      scopePath(project),
      enabled ? 'Only jobs of listed projects and groups have access.' : 'Jobs of all projects have access.',
    );
  },
});

export const pages = [
  show,
  change,
  ...(['projects', 'groups'] as const).flatMap((list) => [add(list), remove(list)]),
];
