/** Snippets of projects, for the pages of comments. */
import { snippetNoun } from '../../../../planning/snippet_notes/noun.ts';
import { type LoadedSnippet, findProjectSnippet } from '../../../../planning/snippet_notes/find.ts';
import { may } from '../../../../core/access/may.ts';
import { findProject } from '../../../../projects/projects/find.ts';
import { notFound } from '../../../../platform/errors.ts';
import { projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import type { CommentedKind } from '../issuables/issuable_kind.ts';
import { snippetView } from './snippet_page.ts';
import { placeInProject, projectSnippets } from './personal_or_project_routes.ts';

export const snippetKind: CommentedKind<LoadedSnippet> = {
  noun: snippetNoun,
  commented: snippetNoun,
  sign: '$',
  routePath: projectSnippets.one,
  find: async (call, path, id) => {
    const project = await findProject(call, path);
    if (!may(call.viewer, 'read_snippet', project)) throw notFound();
    return await findProjectSnippet(call, project.id, id);
  },
  path: ({ project, target }, below = '') => projectPagePath(project, `snippets/${target.id}${below}`),
  view: async (visit, { project, snippet }, { page, ...options }) =>
    await snippetView(visit, placeInProject(visit, project), snippet, { comments: page, ...options }),
  partView: (visit, { project }, title, content) =>
    projectView(visit, { project, title, noun: 'snippets' }, content),
};
