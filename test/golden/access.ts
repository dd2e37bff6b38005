/** Who may do what, as tables for people: asked of the rule itself, not read off its declarations. */
import { levels } from '../../src/core/access/levels.ts';
import {
  type GroupAction,
  type ProjectAction,
  groupRules,
  may,
  mayInGroup,
  projectRules,
} from '../../src/core/access/may.ts';
import { type Viewer, anonymous } from '../../src/core/access/viewer.ts';
import type { FeatureLevel, Visibility } from '../../src/platform/db/schema/column_types.ts';

const me = 7;
const group = 3;
const signedIn: Viewer = { ...anonymous, user_id: me };
const member = (level: number): Viewer => ({ ...signedIn, namespaceLevels: new Map([[group, level]]) });

const viewers: [string, Viewer][] = [
  ['anonymous', anonymous],
  ['non-member', signedIn],
  ['guest', member(levels.guest)],
  ['reporter', member(levels.reporter)],
  ['developer', member(levels.developer)],
  ['master', member(levels.master)],
  ['owner', member(levels.owner)],
  ['admin', { ...signedIn, admin: true }],
];

const projectOf = (visibility: Visibility) => {
  const on: FeatureLevel = 'enabled';
  return {
    id: 1,
    namespace_id: group,
    visibility,
    deleted_at: null,
    archived: 0,
    issues_access_level: on,
    merge_requests_access_level: on,
    builds_access_level: on,
    repository_access_level: on,
    snippets_access_level: on,
    forking_access_level: on,
    releases_access_level: on,
    environments_access_level: on,
    container_registry_access_level: on,
  };
};

type Answer = (action: string, visibility: Visibility, viewer: Viewer) => boolean;

const inProject: Answer = (action, visibility, viewer) =>
  may(viewer, action as ProjectAction, projectOf(visibility));

const inGroup: Answer = (action, visibility, viewer) =>
  mayInGroup(viewer, action as GroupAction, { id: group, visibility });

/** People who may do it only to records that they created or are assigned to. */
const ownOf = (action: string, visibility: Visibility): string => {
  const isForOwn = ([, viewer]: [string, Viewer]): boolean =>
    may(viewer, action as ProjectAction, projectOf(visibility), { author_id: me }) &&
    !inProject(action, visibility, viewer);
  return viewers
    .filter(isForOwn)
    .map(([name]) => name)
    .join(', ');
};

const mark = (allowed: boolean): string => (allowed ? '✔' : '✘');

const table = (title: string, actions: string[], answer: Answer, visibility: Visibility): string => {
  const width = Math.max(...actions.map((action) => action.length));
  const row = (first: string, cells: string[], last: string): string =>
    [first.padEnd(width), ...viewers.map(([name], index) => (cells[index] ?? '').padEnd(name.length)), last]
      .join(' | ')
      .trimEnd();
  const rows = actions.map((action) => {
    const own = answer === inProject ? ownOf(action, visibility) : '';
    return row(
      action,
      viewers.map(([, viewer]) => mark(answer(action, visibility, viewer))),
      own,
    );
  });
  const head = row(
    '',
    viewers.map(([name]) => name),
    answer === inProject ? 'only own' : '',
  );
  return [`${visibility} ${title}`, '', head, ...rows].join('\n');
};

export const accessText = (): string => {
  const visibilities: Visibility[] = ['private', 'internal', 'public'];
  const of = (title: string, rules: object, answer: Answer): string[] =>
    visibilities.map((visibility) => table(title, Object.keys(rules), answer, visibility));
  const tables = [...of('project', projectRules, inProject), ...of('group', groupRules, inGroup)];
  return `Who may do what (all features on, nothing archived). Made by: npm run golden\n\n${tables.join('\n\n\n')}\n`;
};
