/**
 * Declarations of the pages of projects and groups: each noun once, in `project_pages.ts` or `group_pages.ts`. Routes
 * (`routes.ts`), navigation, and the paths of a page derive from these tables.
 */
import type { GroupAction, ProjectAction } from '../../core/access/may.ts';

/** The pages below one noun of a project or group, such as `/group/project/-/pipelines`. */
export type NounPages<Action, Tab> = {
  noun: string;
  /** The text of its link in the navigation, and its name in the palette; undefined if it has none. */
  name?: string;
  /** Only the palette finds the page: it has no link in the navigation. */
  isUnlisted?: true;
  /** The noun whose link is current on its pages; undefined: its own. */
  under?: string;
  /** The tab that is current on its pages. */
  tab: Tab;
  /** The link is shown to users with this permission. */
  action: Action;
  /** Where the link is for users without `action`, but with this permission. */
  forReaders?: { tab: Tab; action: Action };
  /**
   * Method, and path below the noun: `POST /:id/cancel`. A last `/:path` takes all that follows, decoded; a last
   * `/:rest` takes it as the browser sent it, for names of files, which can be any bytes.
   */
  lines: readonly string[];
};

export type ProjectTab =
  | 'code'
  | 'issues'
  | 'merge_requests'
  | 'pipelines'
  | 'releases'
  | 'snippets'
  | 'members'
  | 'settings';
export type GroupTab = 'activity' | 'issues' | 'merge_requests' | 'members' | 'settings';

export type ProjectNoun = NounPages<ProjectAction, ProjectTab>;
export type GroupNoun = NounPages<GroupAction, GroupTab>;

/** Root of the routes of the pages of a project; links use the project's own path. */
export const projectRoot = '/-/projects/:project';

/** Root of the routes of the pages of a group; links use `/groups/` and the group's own path. */
export const groupRoot = '/-/groups/:group';

/** Returns the routes of a noun's pages: `POST /-/projects/:project/pipelines/:id/cancel`. */
export const routeLines = (
  root: string,
  { noun, lines }: Pick<NounPages<unknown, unknown>, 'noun' | 'lines'>,
): string[] =>
  lines.map((line) => {
    const [method = '', below = ''] = line.split(' ');
    return `${method} ${root}/${noun}${below}`;
  });

/** Nouns whose pages are at `/group/project/issues`, without `/-/`, as `web_url` says. */
const bareNouns: readonly string[] = ['tree', 'commit', 'compare', 'issues', 'merge_requests', 'snippets'];

/** Returns whether a page of a project has no `/-/`. @param below what follows the project's path: `issues/3` */
export const isBareNoun = (below: string): boolean => bareNouns.includes(below.split('/')[0] ?? '');
