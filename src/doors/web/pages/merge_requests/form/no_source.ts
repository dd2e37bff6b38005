/** The page for users who can propose changes but have no branch yet. */
import { may } from '../../../../../core/access/may.ts';
import type { View, Visit } from '../../../page.ts';
import { emptyState } from '../../../parts/empty_state.ts';
import { projectPagePath, projectView } from '../../../parts/frame/project_layout.ts';
import { html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import type { NoSource } from './find_ends.ts';

/** Renders what to do before a merge request: fork the project, or ask for a role. Status 403, as of the operation. */
export const noSourceView = (visit: Visit, { project }: NoSource): View => {
  const mayFork = may(visit.call.viewer, 'fork_project', project);
  const fork = html`<a class="button primary" href="${projectPagePath(project, 'forks/new')}">${icon('fork')} Fork the project</a>`;
  const content = html`<section class="card">${emptyState({
    icon: 'fork',
    title: 'You may not push to this project, and have no fork of it',
    text: mayFork
      ? 'Fork it, push your changes to a branch of your fork, and open the merge request from there or here.'
      : 'Forks of this project are disabled. Ask a maintainer for the role of developer.',
    action: mayFork && fork,
  })}</section>`;
  const options = { project, title: 'New merge request', noun: 'merge_requests' as const };
  return { ...projectView(visit, options, content), status: 403 };
};
