/** Routes of the pages of snippets, which projects and users share. */
import { may } from '../../../../core/access/may.ts';
import type { Home } from '../../../../projects/snippets/snippet_home.ts';
import { type Project, findProject } from '../../../../projects/projects/find.ts';
import { notFound } from '../../../../platform/errors.ts';
import { optional } from '../../../../platform/http/schema.ts';
import type { View, Visit } from '../../page.ts';
import { type Html, html } from '../../parts/html.ts';
import { projectPagePath, projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

/** Routes of the pages of personal snippets, or of the snippets of projects. */
export type SnippetRoutes = {
  /** Path of the routes of the list, and of one snippet. */
  list: string;
  one: string;
  /** Finds the owner. @throws Failure 404 */
  open: (visit: Visit, params: { project?: string | undefined }) => Promise<SnippetList>;
};

export type SnippetList = {
  home: Home;
  /** Address of the list. */
  listPath: string;
  pathOf: (id: number) => string;
  view: (title: string, content: Html, options?: { hasHeading?: boolean; view?: Partial<View> }) => View;
};

/** Renders a page without a project. */
const plainView: SnippetList['view'] = (title, content, { hasHeading = false, view } = {}) => ({
  title,
  body: html`${!hasHeading && html`<h1>${title}</h1>`}${content}`,
  ...view,
});

export const personalSnippets: SnippetRoutes = {
  list: '/-/snippets',
  one: '/snippets',
  open: async () =>
    await Promise.resolve({
      home: null,
      listPath: '/-/snippets',
      pathOf: (id) => `/snippets/${id}`,
      view: plainView,
    }),
};

/** The list of a project. */
export const placeInProject = (visit: Visit, project: Project): SnippetList => {
  const listPath = projectPagePath(project, 'snippets');
  return {
    home: project,
    listPath,
    pathOf: (id) => `${listPath}/${id}`,
    view: (title, content, options = {}) =>
      projectView(visit, { project, title, noun: 'snippets', ...options }, content),
  };
};

export const projectSnippets: SnippetRoutes = {
  list: `${projectRoot}/snippets`,
  one: `${projectRoot}/snippets`,
  open: async (visit, { project: path = '' }) => {
    const project = await findProject(visit.call, path);
    if (!may(visit.call.viewer, 'read_snippet', project)) throw notFound();
    return placeInProject(visit, project);
  },
};

/** Parameter of the pages of both places: the full path of the project. */
export const ownerParam = { project: optional(projectPath.project) };
