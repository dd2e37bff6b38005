/** Default messages of merge and squash commits. */
import type { Project } from '../../../projects/projects/find.ts';
import type { NamedIssue } from '../issues/closing_references.ts';
import type { MergeRequestRow } from '../rows.ts';

const sentence = (words: string[]): string => {
  const last = words.at(-1) ?? '';
  if (words.length <= 1) return last;
  return `${words.slice(0, -1).join(', ')}${words.length > 2 ? ',' : ''} and ${last}`;
};

/** `Closes #1 and group/project#2`; `''` for none. */
const closingLine = (project: Pick<Project, 'id'>, issues: readonly NamedIssue[]): string => {
  if (issues.length === 0) return '';
  const names = issues.map(({ project_id, full_path, iid }) =>
    project_id === project.id ? `#${iid}` : `${full_path}#${iid}`,
  );
  return `Closes ${sentence(names)}`;
};

type Requested = Pick<MergeRequestRow, 'iid' | 'title' | 'source_branch' | 'target_branch'>;

/** @param issues the issues it closes that the merger may see */
export const defaultMergeMessage = (
  request: Requested,
  project: Pick<Project, 'id' | 'full_path'>,
  issues: readonly NamedIssue[],
): string =>
  [
    `Merge branch '${request.source_branch}' into '${request.target_branch}'`,
    request.title,
    closingLine(project, issues),
    `See merge request ${project.full_path}!${request.iid}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');

export const defaultSquashMessage = ({ title }: Requested): string => title;
