/** The page of a project. */
import { findGroup } from '../../../../identity/groups/find.ts';
import { Failure } from '../../../../platform/errors.ts';
import { object } from '../../../../platform/http/schema.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { html } from '../../parts/html.ts';
import { projectPath, projectView } from '../../parts/project_view.ts';
import { type View, type Visit, type Redirect, page, redirect } from '../../page.ts';
import { projectRoot } from '../../places.ts';
import { dashedForm } from '../../request/project_paths.ts';

const isMissing = (error: unknown): boolean => error instanceof Failure && error.kind === 'not_found';

/** Returns where a path leads that names no visible project: a group, or a page that is served elsewhere. */
const otherPlace = async ({ call }: Visit, path: string): Promise<Redirect> => {
  const dashed = dashedForm(`/${path}`);
  if (dashed !== null) return redirect(dashed);
  const group = await findGroup(call, path);
  return redirect(`/groups/${group.full_path}`);
};

const projectPage = async (visit: Visit, path: string): Promise<View> => {
  const project = await findProject(visit.call, path);
  return projectView(
    visit,
    { project, title: project.name, noun: null },
    html`<p>${project.description}</p>`,
  );
};

export const pages = [
  page({
    method: 'GET',
    path: projectRoot,
    audience: 'visitor',
    params: object(projectPath),
    handle: async (visit, { project }) => {
      try {
        return await projectPage(visit, project);
      } catch (error) {
        if (!isMissing(error)) throw error;
        return await otherPlace(visit, project);
      }
    },
  }),
];
