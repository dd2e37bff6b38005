/** Counts the open issues of a project that a viewer may read. */
import type { Viewer } from '../../../core/access/viewer.ts';
import { canSeeConfidential } from '../../../core/access/visible.ts';
import type { Project } from '../find.ts';

type Counted = Pick<Project, 'id' | 'namespace_id' | 'opened_issues' | 'opened_confidential_issues'>;

/**
 * Returns the number of open issues, including confidential issues for viewers who see them all. Others may see a few
 * of their own, which are not counted.
 */
export const countOpenIssues = (viewer: Viewer, project: Counted): number => {
  const hidden = canSeeConfidential(viewer, project) ? 0 : project.opened_confidential_issues;
  return project.opened_issues - hidden;
};
