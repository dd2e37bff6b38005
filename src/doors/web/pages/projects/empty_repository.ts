/** Renders the page of a project with an empty repository. */
import { may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { canImportInto } from '../../../../projects/projects/imports/schedule_import.ts';
import type { Visit } from '../../page.ts';
import { addFileLinks } from '../../parts/code/add_file_menu.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { type Html, html } from '../../parts/html.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { cloneAddresses } from './clone_menu.ts';

const commands = (title: string, lines: readonly string[]): Html =>
  html`<h3>${title}</h3><pre tabindex="0"><code>${lines.join('\n')}</code></pre>
`;

const importLink = ({ call }: Visit, project: Project): Html | false =>
  may(call.viewer, 'admin_project', project) &&
  canImportInto(project) &&
  html` Or <a href="${projectPagePath(project, 'import/new')}">import a repository</a> from another server.`;

/** Renders instructions for users who can push, and a note for others. */
export const emptyRepository = (visit: Visit, project: Project): Html => {
  const { call } = visit;
  const [address] = cloneAddresses(visit, project);
  if (!may(call.viewer, 'push_code', project) || address === undefined) {
    return html`<section class="card">${emptyState({ icon: 'code', title: 'The repository is empty' })}</section>`;
  }
  const branch = call.platform.config.default_branch;
  const { url } = address;
  return html`<section class="card"><header><h2>The repository is empty</h2></header><div class="body stack">
<div class="row">${addFileLinks({ project, ref: branch, path: '' }, 'button')}</div>
<p>Or clone it, or push an existing folder or repository.${importLink(visit, project)}</p>
${commands('Start with a clone', [
  `git clone ${url}`,
  `cd ${project.path}`,
  `git switch --create ${branch}`,
  'echo "# ' + project.path + '" > README.md',
  'git add README.md',
  'git commit -m "Add README"',
  `git push --set-upstream origin ${branch}`,
])}${commands('Push an existing folder', [
    'cd existing_folder',
    `git init --initial-branch=${branch}`,
    `git remote add origin ${url}`,
    'git add .',
    'git commit -m "Initial commit"',
    `git push --set-upstream origin ${branch}`,
  ])}${commands('Push an existing repository', [
    'cd existing_repository',
    `git remote add origin ${url}`,
    'git push --set-upstream origin --all',
    'git push --set-upstream origin --tags',
  ])}</div></section>`;
};
