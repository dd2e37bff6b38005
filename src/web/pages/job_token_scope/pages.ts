/** The page of the lists, and what its forms do: what the API does. */
import { Failure } from '../../../errors.ts';
import { findGroup } from '../../../groups/find.ts';
import { boolean, id, object, optional, text } from '../../../http/schema.ts';
import { addToList, removeFromList, switchList } from '../../../job_token_scope/change.ts';
import { type Project, findProject, findProjectFor } from '../../../projects/find.ts';
import { type FormProblems, attempt } from '../../form.ts';
import { type Visit, page, redirect } from '../../page.ts';
import { placedOn } from '../ci/problems.ts';
import { projectPath, served } from '../ci/project_view.ts';
import { type ListName, fieldOf, scopePath, scopeView } from './list.ts';

const servedScope = `${served}/job_token_scope`;

const administered = async ({ call }: Visit, project: string): Promise<Project> =>
  await findProjectFor(call, project, 'admin_project');

/** What the API calls each of the lists. */
const apiNames = { projects: 'project', groups: 'group' } as const;

/** A path, or the number that the API tells. */
const idOrPathOf = (typed: string): number | string =>
  /^\d{1,15}$/.test(typed) ? Number(typed) : typed.replaceAll(/^\/+|\/+$/g, '');

const targetOf = async ({ call }: Visit, list: ListName, typed: string): Promise<number> => {
  const given = idOrPathOf(typed);
  return list === 'projects' ? (await findProject(call, given)).id : (await findGroup(call, given)).id;
};

/** What is hidden is not there. */
const notFoundIn = (list: ListName, error: unknown): FormProblems => {
  if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
  return { text: null, fields: { [fieldOf(list)]: ['was not found'] } };
};

const add = (list: ListName) =>
  page({
    method: 'POST',
    path: `${servedScope}/${list}`,
    audience: 'user',
    params: object({ ...projectPath, [fieldOf(list)]: optional(text({ maxLength: 1_000 })) }),
    handle: async (visit, params) => {
      const { project: of, [fieldOf(list)]: sent } = params as Record<string, string | undefined>;
      const project = await administered(visit, of ?? '');
      const typed = sent?.trim() ?? '';
      let problems: FormProblems | null;
      try {
        const target = await targetOf(visit, list, typed);
        const entry = { list: apiNames[list], projectId: project.id, target };
        problems = await attempt(async () => await addToList(visit.call, entry));
      } catch (error) {
        problems = notFoundIn(list, error);
      }
      if (problems === null) return redirect(scopePath(project), `The jobs of ${typed} are let in.`);
      return await scopeView(visit, project, { list, typed, problems: placedOn(problems, [fieldOf(list)]) });
    },
  });

const remove = (list: ListName) =>
  page({
    method: 'POST',
    path: `${servedScope}/${list}/:id/delete`,
    audience: 'user',
    params: object({ ...projectPath, id: id() }),
    handle: async (visit, { project: of, id: target }) => {
      const project = await administered(visit, of);
      await removeFromList(visit.call, { list: apiNames[list], projectId: project.id, target });
      return redirect(scopePath(project), `The ${apiNames[list]} is listed no more.`);
    },
  });

const show = page({
  method: 'GET',
  path: servedScope,
  audience: 'user',
  params: object(projectPath),
  handle: async (visit, { project }) => await scopeView(visit, await administered(visit, project)),
});

const change = page({
  method: 'POST',
  path: servedScope,
  audience: 'user',
  // A form without the box ticked says 0: one that says nothing changes nothing.
  params: object({ ...projectPath, enabled: optional(boolean()) }),
  handle: async (visit, { project: of, enabled }) => {
    const project = await administered(visit, of);
    if (enabled === undefined) return redirect(scopePath(project));
    await switchList(visit.call, project.id, enabled);
    return redirect(
      scopePath(project),
      enabled ? 'Jobs of what is listed are let in, and no others.' : 'Jobs of all projects are let in.',
    );
  },
});

export const pages = [
  show,
  change,
  ...(['projects', 'groups'] as const).flatMap((list) => [add(list), remove(list)]),
];
