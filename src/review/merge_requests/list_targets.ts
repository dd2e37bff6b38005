import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { type Project, loadProject } from '../../projects/projects/find.ts';

/**
 * Lists the projects in which the viewer may open a merge request for branches of a project, the usual one first: the
 * project that it was forked from, and itself.
 */
export const listTargets = async (
  { db, viewer }: Pick<Call, 'db' | 'viewer'>,
  source: Project,
): Promise<Project[]> => {
  const { forked_from_project_id: id } = source;
  const parent = id === null ? null : await loadProject(db, id);
  return [parent, source].filter(
    (one) => one !== null && may(viewer, 'create_merge_request_in', one),
  ) as Project[];
};
