/** Where a snippet is: with its author, or in a project. What may be done with it there. */
import type { Call } from '../access/call.ts';
import { may } from '../access/may.ts';
import { forbidden, notFound } from '../errors.ts';
import { type Project, findProject } from '../projects/find.ts';
import type { SnippetRow } from './queries.ts';

/** null: personal snippets. */
export type Home = Project | null;

/**
 * The project of a path, if the caller sees it with its snippets.
 * @throws Failure 404, 403 where they are off for him
 */
export const openHome = async (call: Call, id: number | string | undefined): Promise<Home> => {
  if (id === undefined) return null;
  const project = await findProject(call, id);
  if (!may(call.viewer, 'read_snippet', project)) throw forbidden();
  return project;
};

/** External users are guests of the instance: they write in projects that took them in. */
export const mayCreate = ({ viewer }: Call, home: Home): boolean =>
  home === null ? viewer.user_id !== null && !viewer.external : may(viewer, 'create_snippet', home);

export const requireChange = ({ viewer }: Call, home: Home, snippet: SnippetRow): void => {
  const allowed =
    home === null
      ? viewer.admin || snippet.author_id === viewer.user_id
      : may(viewer, 'admin_snippet', home, snippet);
  if (!allowed) throw forbidden();
};

export const missing = () => notFound('Snippet');
