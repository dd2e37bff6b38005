/** Finds pages by their name for the command palette. */
import { type ProjectAction, may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { adminLinks } from '../../parts/frame/admin_layout.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import type { IconName } from '../../parts/icon.ts';
import type { ProjectNoun } from '../../project_and_group_pages.ts';
import { projectNouns } from '../../project_pages.ts';
import { canPropose } from '../../parts/frame/create_in_project.ts';
import type { Match, MatchGroup } from './find_records.ts';

const maxMatches = 8;

type PageLink = readonly [path: string, name: string, icon: IconName];

const ownPages: readonly PageLink[] = [
  ['/', 'Your work', 'home'],
  ['/projects/new', 'New project', 'plus'],
  ['/groups/new', 'New group', 'plus'],
  ['/-/snippets/new', 'New snippet', 'plus'],
  ['/dashboard/todos', 'To-do list', 'todo'],
  ['/dashboard/issues', 'Your issues', 'issue'],
  ['/dashboard/merge_requests', 'Your merge requests', 'merge-request'],
  ['/dashboard/activity', 'Activity', 'history'],
  ['/dashboard/projects', 'Your projects', 'folder'],
  ['/dashboard/starred', 'Starred projects', 'star'],
  ['/-/snippets', 'Your snippets', 'file'],
  ['/profile', 'Account settings', 'settings'],
  ['/profile/keys', 'SSH keys', 'key'],
  ['/profile/personal_access_tokens', 'Access tokens', 'key'],
];

const openPages: readonly PageLink[] = [
  ['/explore', 'Explore projects', 'globe'],
  ['/explore/groups', 'Explore groups', 'group'],
  ['/help', 'Help', 'book'],
];

const adminPages: readonly PageLink[] = adminLinks.map(([path, name]) => [
  path,
  path === '/admin' ? 'Administration' : `Administration: ${name}`,
  'gauge',
]);

const projectPages = ({ call }: Visit, project: Project): Match[] => {
  const nouns = (projectNouns as readonly ProjectNoun[]).filter(
    ({ name, action, lines }) =>
      name !== undefined &&
      lines.includes('GET') &&
      may(call.viewer, action, project) &&
      (action !== 'read_code' || project.default_branch !== null),
  );
  return nouns.map(({ noun, name = '' }) => ({
    path: projectPagePath(project, noun),
    text: name,
    icon: 'chevron-right' as const,
    hint: project.full_path,
  }));
};

type NewRecord = {
  text: string;
  noun: ProjectNoun['noun'];
  action: ProjectAction;
  /** Repositories without commits have none. */
  needsCommit?: boolean;
};

const newRecords: readonly NewRecord[] = [
  { text: 'New issue', noun: 'issues', action: 'create_issue' },
  { text: 'New merge request', noun: 'merge_requests', action: 'create_merge_request_in', needsCommit: true },
  { text: 'New branch', noun: 'branches', action: 'push_code', needsCommit: true },
];

/** Returns the forms of the project that the viewer may fill. */
const newRecordPages = async (visit: Visit, project: Project): Promise<Match[]> => {
  const { call } = visit;
  const proposes = await canPropose(visit, project);
  return newRecords
    .filter(
      ({ action, needsCommit = false }) =>
        call.signedIn &&
        may(call.viewer, action, project) &&
        (action !== 'create_merge_request_in' || proposes) &&
        (!needsCommit || project.default_branch !== null),
    )
    .map(({ text, noun }) => ({
      path: `${projectPagePath(project, noun)}/new`,
      text,
      icon: 'plus' as const,
      hint: project.full_path,
    }));
};

/** Finds pages by words of their names, pages of the current project first. */
export const findPages = async (
  visit: Visit,
  project: Project | null,
  search: string,
): Promise<MatchGroup> => {
  const { call } = visit;
  const pages = [...(call.signedIn ? ownPages : []), ...openPages, ...(call.admin ? adminPages : [])].filter(
    ([path]) => call.platform.hasPage(`GET ${path}`),
  );
  const words = search.toLowerCase().split(/\s+/);
  const matches = [
    ...(project === null ? [] : [...(await newRecordPages(visit, project)), ...projectPages(visit, project)]),
    ...pages.map(([path, text, icon]) => ({ path, text, icon })),
  ].filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)));
  return { title: 'Pages', matches: matches.slice(0, maxMatches) };
};
