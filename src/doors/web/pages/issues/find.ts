/** Finds the issue of a page, and the addresses of its pages. */
import type { Call } from '../../../../core/access/call.ts';
import { type LoadedIssue, findIssue } from '../../../../planning/issues/find.ts';
import { issueNoun } from '../../../../planning/issues/noun.ts';
import { forbidden } from '../../../../platform/errors.ts';
import { id } from '../../../../platform/http/schema.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { projectRoot } from '../../project_and_group_pages.ts';

/** Where the pages of issues are served. */
export const servedIssues = `${projectRoot}/issues`;

/** Parameters of the pages of one issue. */
export const oneIssue = { ...projectPath, iid: id() };

export const issuesPath = (project: Pick<Project, 'full_path'>): string => projectPagePath(project, 'issues');

/** Returns the address of an issue's page. @param below what follows: `/edit` */
export const issuePath = ({ project, target }: Pick<LoadedIssue, 'project' | 'target'>, below = ''): string =>
  `${issuesPath(project)}/${target.iid}${below}`;

/** Loads an issue that the caller may edit. @throws Failure 404 for a hidden one, 403 without the right */
export const findEditable = async (call: Call, project: string, iid: number): Promise<LoadedIssue> => {
  const loaded = await findIssue(call, project, iid);
  if (!issueNoun.mayUpdate(call, loaded)) throw forbidden();
  return loaded;
};
