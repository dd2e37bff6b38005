/** Finds pages by their name for the command palette. */
import { mayInGroup } from '../../../../core/access/may.ts';
import type { Group } from '../../../../identity/groups/find.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { CreateLink, Visit } from '../../page.ts';
import { accountLinks } from '../../parts/frame/account_layout.ts';
import { adminLinks } from '../../parts/frame/admin_layout.ts';
import { listCreateLinksInGroup } from '../../parts/frame/create_in_group.ts';
import { listCreateLinks } from '../../parts/frame/create_in_project.ts';
import { groupPagePath } from '../../parts/frame/group_layout.ts';
import { listNouns, projectPagePath } from '../../parts/frame/project_layout.ts';
import type { IconName } from '../../parts/icon.ts';
import { groupNouns } from '../../group_pages.ts';
import type { GroupNoun } from '../../project_and_group_pages.ts';
import type { Match, MatchGroup } from './find_records.ts';
import type { OpenPlace } from './open_place.ts';

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
  ['/dashboard/groups', 'Your groups', 'group'],
  ['/dashboard/starred', 'Starred projects', 'star'],
  ['/-/snippets', 'Your snippets', 'file'],
  ...accountLinks.map(([path, name]): PageLink => [path, `Account settings: ${name}`, 'settings']),
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

const toMatches = (links: readonly CreateLink[], hint: string): Match[] =>
  links.map(({ path, name, icon }) => ({ path, text: name, icon, hint }));

const projectPages = async (visit: Visit, project: Project): Promise<Match[]> => {
  const hint = project.full_path;
  const nouns = listNouns(visit, project).filter(
    ({ action, lines }) =>
      lines.includes('GET') && (action !== 'read_code' || project.default_branch !== null),
  );
  return [
    ...toMatches(await listCreateLinks(visit, project, true), hint),
    ...nouns.map(({ noun, name = '' }) => ({
      path: projectPagePath(project, noun),
      text: name,
      icon: 'chevron-right' as const,
      hint,
    })),
  ];
};

type NewInGroup = { text: string; noun: 'labels' | 'milestones' | 'boards'; action: GroupNoun['action'] };

const newInGroup: readonly NewInGroup[] = [
  { text: 'New label', noun: 'labels', action: 'admin_group_label' },
  { text: 'New milestone', noun: 'milestones', action: 'admin_group_milestone' },
  { text: 'New board', noun: 'boards', action: 'admin_group_board' },
];

const groupPages = (visit: Visit, group: Group): Match[] => {
  const { viewer } = visit.call;
  const hint = group.full_path;
  const nouns = (groupNouns as readonly GroupNoun[]).filter(
    ({ name, action, lines }) =>
      name !== undefined && lines.includes('GET') && mayInGroup(viewer, action, group),
  );
  const forms = newInGroup.filter(({ action }) => mayInGroup(viewer, action, group));
  return [
    ...toMatches(listCreateLinksInGroup(visit, group), hint),
    ...forms.map(({ text, noun }) => ({
      path: `${groupPagePath(group, noun)}/new`,
      text,
      icon: 'plus' as const,
      hint,
    })),
    ...nouns.map(({ noun, name = '' }) => ({
      path: groupPagePath(group, noun),
      text: name,
      icon: 'chevron-right' as const,
      hint,
    })),
  ];
};

const localPages = async (visit: Visit, { project, group }: OpenPlace): Promise<Match[]> => {
  if (project !== null) return await projectPages(visit, project);
  return group === null ? [] : groupPages(visit, group);
};

/** Finds pages by words of their names, pages of the current project or group first. */
export const findPages = async (visit: Visit, place: OpenPlace, search: string): Promise<MatchGroup> => {
  const { call } = visit;
  const pages = [...(call.signedIn ? ownPages : []), ...openPages, ...(call.admin ? adminPages : [])].filter(
    ([path]) => call.platform.hasPage(`GET ${path}`),
  );
  const matches: Match[] = [
    ...(await localPages(visit, place)),
    ...pages.map(([path, text, icon]) => ({ path, text, icon })),
  ].filter(({ text }) => hasWords(text, search));
  return { title: 'Pages', matches: matches.slice(0, maxMatches) };
};

/** Returns whether a text has all words of a search, in any case. */
export const hasWords = (text: string, search: string): boolean => {
  const lower = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
};
