/** Pages that redirect users who cannot push to a project to the same page of their fork. */
import { listOwnForks } from '../../../../code/repository/forks/own_forks.ts';
import { may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { View, Visit } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { projectPagePath, projectView } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';

/** Forks that are offered. */
const maxForks = 5;

const forkLinks = (forks: readonly Project[], below: string): Html =>
  html`<div class="buttons">${forks
    .slice(0, maxForks)
    .map(
      (fork) =>
        html`<a class="button primary" href="${projectPagePath(fork, below)}?propose=1">${icon('pencil')} Continue in ${fork.full_path}</a>`,
    )}</div>`;

const newForkLink = (project: Project, below: string): Html => {
  const query = new URLSearchParams({ continue: below }).toString();
  return html`<a class="button primary" href="${projectPagePath(project, 'forks/new')}?${query}">${icon('fork')} Fork the project</a>`;
};

/**
 * Renders the way to the form in a fork, which may have to be created first. Status 403, as of the operation.
 * @param path address of the form
 */
export const offerForksView = async (visit: Visit, project: Project, path: string): Promise<View> => {
  const { call } = visit;
  const below = path.slice(projectPagePath(project, '').length);
  const forks = await listOwnForks(call, project);
  const mayFork = may(call.viewer, 'fork_project', project);
  const content = html`<section class="card">${emptyState({
    icon: 'lock',
    title: 'You may not push to this project',
    text:
      forks.length > 0
        ? 'Change the files of your fork, and propose the change from there.'
        : 'Fork it, change the files of your fork, and propose the change from there.',
    action: forks.length > 0 ? forkLinks(forks, below) : mayFork && newForkLink(project, below),
  })}</section>`;
  return { ...projectView(visit, { project, title: 'Edit files', noun: 'edit' }, content), status: 403 };
};

/** Says that a fork lacks the branch or file that the user came to change. */
export const missingInForkView = (visit: Visit, project: Project): View => {
  const content = html`<section class="card">${emptyState({
    icon: 'fork',
    title: 'This fork does not have the file',
    text: 'It may be older than the project that it was forked from. Update it, and try again.',
    action: html`<a class="button primary" href="/${project.full_path}">Go to the fork</a>`,
  })}</section>`;
  return { ...projectView(visit, { project, title: 'Edit files', noun: 'edit' }, content), status: 404 };
};
