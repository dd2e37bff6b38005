/** The form that updates a fork from the project that it was forked from. */
import { type ForkUpdate, updateFork } from '../../../../code/repository/forks/update_fork.ts';
import { type Project, findProjectFor } from '../../../../projects/projects/find.ts';
import { type View, type Visit, redirect } from '../../page.ts';
import { readRefFailure } from '../../parts/code/attempt_ref_change.ts';
import { fileNameList } from '../../parts/code/file_name_list.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { redirectWithProblems } from '../../parts/form_problems.ts';
import { projectPath, projectView } from '../../parts/frame/project_layout.ts';
import { html } from '../../parts/html.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { quoteWord } from '../merge_requests/check_out_commands.ts';
import { cloneAddresses } from './clone_menu.ts';

/** Names of files that are shown. */
const maxNames = 20;

const notices = {
  unchanged: 'The fork already contains all commits of the project that it was forked from.',
  fast_forward: 'The fork was updated.',
  merged: 'The fork was updated by a merge commit.',
};

type Conflict = Extract<ForkUpdate, { result: 'conflict' }>;

/** Says which files conflict, and which commands resolve the conflicts. */
const conflictView = (visit: Visit, project: Project, { files, upstream }: Conflict): View => {
  const [address] = cloneAddresses(visit, upstream);
  const commands = [
    `git checkout ${quoteWord(project.default_branch ?? '')}`,
    'git pull',
    `git fetch ${address?.url ?? ''} ${quoteWord(upstream.default_branch ?? '')}`,
    'git merge FETCH_HEAD',
    'git push',
  ];
  const names = files.slice(0, maxNames);
  const content = html`<p>Nothing was changed: <code>${project.default_branch}</code> conflicts with <a href="/${upstream.full_path}">${upstream.full_path}</a>:<code>${upstream.default_branch}</code>${files.length > 0 && ' in these files:'}</p>
${files.length > 0 && fileNameList({ names, total: files.length })}
<p>Merge them in a clone of the fork, resolve the conflicts, and push the result:</p>
<pre tabindex="0">${commands.join('\n')}</pre>
<p><a class="button" href="/${project.full_path}">Back to the project</a></p>`;
  return {
    ...projectView(visit, { project, title: 'Update fork', noun: 'update_fork' }, content),
    status: 409,
  };
};

const update = formPage({
  path: `${projectRoot}/update_fork`,
  audience: 'user',
  address: projectPath,
  fields: {},
  find: async ({ call }, { project }) => await findProjectFor(call, project, 'push_code'),
  fromSent: () => null,
  run: async (visit, project) => {
    const outcome = await updateFork(visit.call, project);
    return outcome.result === 'conflict'
      ? conflictView(visit, project, outcome)
      : redirect(`/${project.full_path}`, notices[outcome.result]);
  },
  readFailure: readRefFailure,
  view: (_visit, project, { problems }) => redirectWithProblems(`/${project.full_path}`, problems),
});

export const updateForkPages = [update];
