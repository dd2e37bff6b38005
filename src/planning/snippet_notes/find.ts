import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { type Project, findProject } from '../../projects/projects/find.ts';
import { findSnippet } from '../../projects/snippets/queries.ts';
import type { SnippetRow } from '../../projects/snippets/snippet_row.ts';
import { canSeeSnippet } from '../../projects/snippets/visible.ts';
import { forbidden } from '../../platform/errors.ts';
import type { LoadedNoteable } from '../issuables/target.ts';

export type LoadedSnippet = LoadedNoteable & { snippet: SnippetRow };

/** Presents a snippet of a project as a record with comments. */
export const toLoadedSnippet = (project: Project, snippet: SnippetRow): LoadedSnippet => ({
  target: {
    type: 'Snippet',
    id: snippet.id,
    iid: snippet.id,
    project_id: project.id,
    title: snippet.title,
    author_id: snippet.author_id,
    assignee_ids: [],
    time_estimate: 0,
    total_time_spent: 0,
    discussion_locked: false,
    created_at: snippet.created_at,
  },
  project,
  isVisibleTo: (viewer) => may(viewer, 'read_snippet', project) && canSeeSnippet(viewer, project, snippet),
  snippet,
});

/**
 * Loads a snippet of a project, as a record with comments.
 * @throws Failure 404 if the caller may not see it, 403 if snippets are off for them
 */
export const findProjectSnippet = async (
  call: Call,
  projectId: number | string,
  id: number,
): Promise<LoadedSnippet> => {
  const project = await findProject(call, projectId);
  if (!may(call.viewer, 'read_snippet', project)) throw forbidden();
  return toLoadedSnippet(project, await findSnippet(call, call.db, project, id));
};
