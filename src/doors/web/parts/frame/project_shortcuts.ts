/** Keyboard shortcuts of every page of a project, as links that the client script follows. */
import { type ProjectAction, may } from '../../../../core/access/may.ts';
import { makeLruCache } from '../../../../platform/lru_cache.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import { type Html, html } from '../html.ts';

type Shortcut = {
  keys: string;
  name: string;
  /** Part of the path after the project. */
  below: string;
  action: ProjectAction;
};

/** The keys that people know from GitLab. */
const shortcuts: readonly Shortcut[] = [
  { keys: 'g p', name: 'Go to the project', below: '', action: 'read_project' },
  { keys: 'g v', name: 'Go to the activity', below: '/-/activity', action: 'read_project' },
  { keys: 'g f', name: 'Go to the files', below: '/-/tree', action: 'read_code' },
  { keys: 'g c', name: 'Go to the commits', below: '/-/commits', action: 'read_code' },
  { keys: 'g i', name: 'Go to the issues', below: '/-/issues', action: 'read_issue' },
  { keys: 'g b', name: 'Go to the boards', below: '/-/boards', action: 'read_board' },
  { keys: 'g m', name: 'Go to the merge requests', below: '/-/merge_requests', action: 'read_merge_request' },
  { keys: 'g l', name: 'Go to the pipelines', below: '/-/pipelines', action: 'read_pipeline' },
  { keys: 'g j', name: 'Go to the jobs', below: '/-/jobs', action: 'read_job' },
  { keys: 'g e', name: 'Go to the environments', below: '/-/environments', action: 'read_environment' },
  { keys: 'g r', name: 'Go to the releases', below: '/-/releases', action: 'read_release' },
  { keys: 'g s', name: 'Go to the snippets', below: '/-/snippets', action: 'read_snippet' },
  { keys: 't', name: 'Find file', below: '/-/find_file', action: 'read_code' },
  { keys: 'i', name: 'New issue', below: '/-/issues/new', action: 'create_issue' },
];

/** Pages of an empty repository have nothing to show. */
const needsCommit: readonly ProjectAction[] = ['read_code'];

/** Pages about pipelines need an account, even if their statuses are public. */
const needsAccount: readonly ProjectAction[] = ['read_pipeline', 'read_job', 'read_environment'];

/** Links in memory, by project and keys. */
const rendered = makeLruCache<Html>(500, () => 1);

const render = (fullPath: string, shown: readonly Shortcut[]): Html => {
  const key = `${fullPath} ${shown.map(({ keys }) => keys).join()}`;
  const known = rendered.get(key);
  if (known !== undefined) return known;
  const made = html`<div hidden>${shown.map(
    ({ keys, name, below }) => html`<a href="/${fullPath}${below}" data-key="${keys}">${name}</a>`,
  )}</div>`;
  rendered.set(key, made);
  return made;
};

/** Renders the links, which are hidden: only the script uses them. */
export const projectShortcuts = ({ call, preferences }: Visit, project: Project): Html | null => {
  if (!preferences.hasShortcuts) return null;
  const { full_path, default_branch } = project;
  const shown = shortcuts.filter(
    ({ below, action }) =>
      call.platform.hasPage(`GET ${projectRoot}${below.replace('/-', '')}`) &&
      may(call.viewer, action, project) &&
      (call.signedIn || !needsAccount.includes(action)) &&
      (default_branch !== null || !needsCommit.includes(action)),
  );
  return render(full_path, shown);
};
