/** Decides which pages link to the form for a new merge request. */
import { may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { listTargets } from '../../../../review/merge_requests/list_targets.ts';
import type { Visit } from '../../page.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';

const newRequestPage = 'merge_requests/new';

const hasForm = ({ call }: Visit): boolean =>
  call.signedIn && call.platform.hasPage(`GET /-/projects/:project/${newRequestPage}`);

/**
 * Finds the usual target of merge requests for branches of the project: the project that it was forked from, or itself;
 * null if the viewer may not open any.
 */
export const findUsualTarget = async (visit: Visit, project: Project): Promise<Project | null> => {
  const { call } = visit;
  if (!hasForm(visit) || !may(call.viewer, 'create_merge_request_from', project)) return null;
  return (await listTargets(call, project))[0] ?? null;
};

/** Returns whether the viewer may open merge requests for branches of the project. */
export const canProposeBranches = async (visit: Visit, project: Project): Promise<boolean> =>
  (await findUsualTarget(visit, project)) !== null;

export type NewRequestEnds = {
  source_branch?: string;
  target_branch?: string | undefined;
  target_project_id?: number | undefined;
};

/** Returns the address of the form for a new merge request, on the pages of a project. */
export const newRequestPath = (project: Pick<Project, 'full_path'>, ends: NewRequestEnds = {}): string => {
  const query = new URLSearchParams(
    Object.entries(ends)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [`merge_request[${name}]`, String(value)]),
  ).toString();
  return `${projectPagePath(project, newRequestPage)}${query === '' ? '' : `?${query}`}`;
};
