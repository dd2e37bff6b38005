/** Addresses of the pages of issues. */
import type { LoadedIssue } from '../../../../planning/issues/find.ts';
import { id } from '../../../../platform/http/schema.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

/** Route of the list of issues; links use `issuesPath`. */
export const issuesRoutePath = `${projectRoot}/issues`;

/** Parameters of the pages of one issue. */
export const oneIssue = { ...projectPath, iid: id() };

export const issuesPath = (project: Pick<Project, 'full_path'>): string => projectPagePath(project, 'issues');

/** Returns the path of the page of a loaded issue. @param below what follows: `/edit` */
export const issuePath = ({ project, target }: Pick<LoadedIssue, 'project' | 'target'>, below = ''): string =>
  `${issuesPath(project)}/${target.iid}${below}`;
