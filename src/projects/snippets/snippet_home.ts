/** The home of a snippet, personal or a project, and the rights there. */
import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { forbidden, notFound } from '../../platform/errors.ts';
import { type Project, findProject } from '../projects/find.ts';
import type { SnippetRow } from './snippet_row.ts';

/** null: personal snippets. */
export type Home = Project | null;

/**
 * Loads a project whose snippets the caller sees.
 * @throws Failure 404, 403 if snippets are off for the caller
 */
export const openHome = async (call: Call, id: number | string | undefined): Promise<Home> => {
  if (id === undefined) return null;
  const project = await findProject(call, id);
  if (!may(call.viewer, 'read_snippet', project)) throw forbidden();
  return project;
};

/**
 * Returns whether the caller may create a snippet. External users may do so only in projects in which they are members.
 */
export const mayCreate = ({ viewer }: Call, home: Home): boolean =>
  home === null ? viewer.user_id !== null && !viewer.external : may(viewer, 'create_snippet', home);

/** Returns whether the viewer may edit and delete a snippet that they see. */
export const mayChange = ({ viewer }: Pick<Call, 'viewer'>, home: Home, snippet: SnippetRow): boolean => {
  if (home !== null) return may(viewer, 'admin_snippet', home, snippet);
  return viewer.admin || (viewer.user_id !== null && snippet.author_id === viewer.user_id);
};

/** @throws Failure 403 */
export const requireChange = (call: Call, home: Home, snippet: SnippetRow): void => {
  if (!mayChange(call, home, snippet)) throw forbidden();
};

export const missing = () => notFound('Snippet');
