/** Addresses of the pages of merge requests. */
import { type LoadedMergeRequest } from '../../../../review/merge_requests/find.ts';
import { id } from '../../../../platform/http/schema.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

/** Route of the list of merge requests; links use `requestsPath`. */
export const requestsRoutePath = `${projectRoot}/merge_requests`;

/** Parameters of the pages of one merge request. */
export const oneRequest = { ...projectPath, iid: id() };

export const requestsPath = (project: Pick<Project, 'full_path'>): string =>
  projectPagePath(project, 'merge_requests');

/** Returns the address of a merge request's page. @param below what follows: `/commits` */
export const requestPath = (
  { project, target }: Pick<LoadedMergeRequest, 'project' | 'target'>,
  below = '',
): string => `${requestsPath(project)}/${target.iid}${below}`;
