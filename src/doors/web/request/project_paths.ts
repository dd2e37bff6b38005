/**
 * Rewrites public paths of users, projects and groups (`/group/project/-/pipelines`) to the routes that serve them
 * (`/-/projects/group%2Fproject/pipelines`).
 */
import { topLevelWords } from '../../../identity/namespaces/path_rules.ts';
import { groupNouns } from '../group_pages.ts';
import { type NounPages, isBareNoun } from '../project_and_group_pages.ts';
import { projectNouns } from '../project_pages.ts';

type Nouns = readonly NounPages<unknown, unknown>[];

const namesOf = (pages: Nouns): string => pages.map(({ noun }) => noun.replaceAll('.', '\\.')).join('|');

const bare = projectNouns.filter(({ noun }) => isBareNoun(noun));
/** Nouns that other forges, and older links, write without `/-/`; no project or subgroup has such a name. */
const reserved = ['blob', 'raw', 'blame', 'commits', 'find_file', 'new', 'edit'];

const ofProject = new RegExp(`^/((?!api/v4/|-/|groups/)[^?#]+?)/-/(${namesOf(projectNouns)})(/.*)?$`);
const ofBareProject = new RegExp(`^/((?!api/v4/|-/|groups/)[^/?#]+/[^?#]+?)/(${namesOf(bare)})(/.*)?$`);
const ofGroup = new RegExp(`^/groups/([^?#]+?)/-/(${namesOf(groupNouns)})(/.*)?$`);
const groupSettings = /^\/groups\/([^?#]+?)\/-\/settings\/ci_cd$/;

type Fold = { start: RegExp; isRaw: boolean };

/** Lines that end in a parameter for all that follows, by noun. */
const foldsOf = (pages: Nouns): Map<string, Fold[]> =>
  new Map(
    pages.map(({ noun, lines }) => [
      noun,
      lines.flatMap((line) => {
        const [, before, name] = /^\w+ (.*\/):(path|rest)$/.exec(line) ?? [];
        if (before === undefined) return [];
        return [
          { start: new RegExp(`^(${before.replaceAll(/:\w+/g, '[^/]+')})(.+)$`), isRaw: name === 'rest' },
        ];
      }),
    ]),
  );

const folds = { projects: foldsOf(projectNouns), groups: foldsOf(groupNouns) };

/** Encodes the rest of a path as one segment, because a route parameter takes only one. */
const foldRest = (kind: 'projects' | 'groups', noun: string, below: string): string => {
  for (const { start, isRaw } of folds[kind].get(noun) ?? []) {
    const [, before, rest] = start.exec(below) ?? [];
    if (before !== undefined && rest !== undefined) {
      return before + (isRaw ? encodeURIComponent(rest) : rest.replaceAll('/', '%2F'));
    }
  }
  return below;
};

const toRoutePath = (kind: 'projects' | 'groups', path: string, noun: string, below: string): string =>
  `/-/${kind}/${path.replaceAll('/', '%2F')}/${noun}${foldRest(kind, noun, below)}`;

const rewriteSettingsPath = (path: string): string => {
  const [, group] = groupSettings.exec(path) ?? [];
  return group === undefined ? path : toRoutePath('groups', group, 'runners', '');
};

/** Returns the route path of a page of a project or group below one of its nouns; any other path unchanged. */
export const rewritePagePath = (path: string): string => {
  if (path.startsWith('/api/') || path.startsWith('/-/')) return path;
  if (path.includes('/-/')) {
    if (groupSettings.test(path)) return rewriteSettingsPath(path);
    const [, group, groupNoun = '', below = ''] = ofGroup.exec(path) ?? [];
    if (group !== undefined) return toRoutePath('groups', group, groupNoun, below);
    const [, project, noun = '', rest = ''] = ofProject.exec(path) ?? [];
    if (project?.includes('/') === true) return toRoutePath('projects', project, noun, rest);
    return rewriteSettingsPath(path);
  }
  const [, project, noun = '', rest = ''] = ofBareProject.exec(path) ?? [];
  if (project !== undefined && !topLevelWords.has(project.split('/')[0] ?? '')) {
    return toRoutePath('projects', project, noun, rest);
  }
  return path;
};

const reservedPath = new RegExp(`^(/(?!api/|-/|groups/)[^/?#]+/[^?#]+?)/(${reserved.join('|')})(/.*)?$`);
const namespacePath = /^\/[\w.-]+(?:\/[\w.-]+)*$/;

/**
 * Returns the route path of the page of a user, group or project itself: `/group/project`; any other path unchanged.
 * The paths of all other routes start with a word that no user and no group can have.
 */
export const rewriteHomePath = (path: string): string => {
  if (path.includes('.git/')) return path; // files that git clients request
  if (!namespacePath.test(path)) {
    return reservedPath.test(path) ? `/-/projects/${encodeURIComponent(path.slice(1))}` : path;
  }
  const [first = '', ...others] = path.slice(1).split('/');
  if (first === 'groups') {
    return others.length === 0 || others[0] === 'new' ? path : `/-/groups/${others.join('%2F')}`;
  }
  if (topLevelWords.has(first.toLowerCase())) return path;
  return others.length === 0 ? `/-/namespaces/${first}` : `/-/projects/${[first, ...others].join('%2F')}`;
};

const dashedPath = /^(\/[^/?#]+\/[^?#]+?)\/-(\/[^?#]+)$/;

/** Returns the canonical path of a page: it contains `/-/`, except for nouns whose `web_url` does not. */
export const canonicalPath = (url: string): string => {
  const mark = url.search(/[?#]/);
  const [path, query] = mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark)];
  if (path.startsWith('/groups/') || path.startsWith('/-/')) return url;
  const [, dashed, below] = dashedPath.exec(path) ?? [];
  if (dashed !== undefined && below !== undefined && isBareNoun(below.slice(1)))
    return dashed + below + query;
  return url;
};

/** Returns where an address of another form leads: `/group/project/blob/main/x`; null if it is not one. */
export const dashedForm = (path: string): string | null => {
  const [, project, noun, rest = ''] = reservedPath.exec(path) ?? [];
  return project === undefined ? null : `${project}/-/${noun}${rest}`;
};
