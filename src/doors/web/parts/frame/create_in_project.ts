/** The forms for new records of a project that the menu “Create” offers on its pages. */
import { listOwnForks } from '../../../../code/repository/forks/own_forks.ts';
import { may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { CreateLink, Visit } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

/**
 * Returns whether the viewer can propose changes to the project: by a branch of the project, of a fork, or of a fork
 * that they may create.
 */
export const canPropose = async ({ call }: Visit, project: Project): Promise<boolean> => {
  const hasForm = call.signedIn && call.platform.hasPage(`GET ${projectRoot}/merge_requests/new`);
  if (!hasForm || !may(call.viewer, 'create_merge_request_in', project)) return false;
  return (
    may(call.viewer, 'create_merge_request_from', project) ||
    may(call.viewer, 'fork_project', project) ||
    (await listOwnForks(call, project)).length > 0
  );
};

/** Lists the forms that the viewer may fill. Repositories without commits have no merge requests. */
export const listCreateLinks = async (visit: Visit, project: Project): Promise<CreateLink[]> => {
  const { call } = visit;
  const hasIssueForm = call.platform.hasPage(`GET ${projectRoot}/issues/new`);
  const canOpenIssue = call.signedIn && hasIssueForm && may(call.viewer, 'create_issue', project);
  const proposes = project.default_branch !== null && (await canPropose(visit, project));
  const root = `/${project.full_path}`;
  return [
    ...(canOpenIssue ? [{ path: `${root}/issues/new`, name: 'New issue', icon: 'issue' as const }] : []),
    ...(proposes
      ? [{ path: `${root}/merge_requests/new`, name: 'New merge request', icon: 'merge-request' as const }]
      : []),
  ];
};
