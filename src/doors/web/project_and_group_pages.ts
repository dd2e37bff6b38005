/**
 * The pages of projects and groups: each noun is declared once. Routes (`routes.ts`), navigation, and the paths
 * that lead to a page derive from these tables.
 */
import { codeNouns } from './code_pages.ts';
import {
  accessTokenLines,
  boardLines,
  deployTokenLines,
  labelLines,
  memberLines,
  milestoneLines,
  runnerLines,
  variableLines,
} from './shared_page_lines.ts';
import { hookLines } from './hook_pages.ts';
import { workNouns } from './planning_pages.ts';
import type { GroupAction, ProjectAction } from '../../core/access/may.ts';

/** The pages below one noun of a project or group, such as `/group/project/-/pipelines`. */
export type NounPages<Action, Tab> = {
  noun: string;
  /** The text of its link in the navigation; undefined: it has none. */
  name?: string;
  /** The tab that is current on its pages. */
  tab: Tab;
  /** The link is shown to users who may do this. */
  action: Action;
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
  | 'settings';
export type GroupTab = 'activity' | 'issues' | 'merge_requests' | 'members' | 'settings';

export type ProjectNoun = NounPages<ProjectAction, ProjectTab>;
export type GroupNoun = NounPages<GroupAction, GroupTab>;

/** Where the pages of a project are served; links use the project's own path. */
export const projectRoot = '/-/projects/:project';

/** Where the pages of a group are served; links use `/groups/` and the group's own path. */
export const groupRoot = '/-/groups/:group';

export const projectNouns = [
  { noun: 'star', tab: 'code', action: 'read_project', lines: ['POST'] },
  { noun: 'unstar', tab: 'code', action: 'read_project', lines: ['POST'] },
  { noun: 'starrers', tab: 'code', action: 'read_project', lines: ['GET'] },
  { noun: 'activity', tab: 'code', action: 'read_project', lines: ['GET'] },
  { noun: 'notification_setting', tab: 'code', action: 'read_project', lines: ['POST'] },
  { noun: 'forks', tab: 'code', action: 'read_project', lines: ['GET', 'POST', 'GET /new'] },
  { noun: 'archive', tab: 'code', action: 'read_code', lines: ['GET /:rest'] },
  ...codeNouns,
  ...workNouns,
  {
    noun: 'snippets',
    tab: 'snippets',
    name: 'Snippets',
    action: 'read_snippet',
    lines: [
      'GET',
      'POST',
      'GET /new',
      'GET /:id',
      'POST /:id',
      'GET /:id/edit',
      'GET /:id/raw',
      'POST /:id/delete',
    ],
  },
  {
    noun: 'pipelines',
    tab: 'pipelines',
    name: 'Pipelines',
    action: 'read_pipeline',
    lines: ['GET', 'POST', 'GET /new', 'GET /:id', 'POST /:id/cancel', 'POST /:id/retry'],
  },
  {
    noun: 'jobs',
    tab: 'pipelines',
    name: 'Jobs',
    action: 'read_job',
    lines: [
      'GET',
      'GET /:id',
      'POST /:id/cancel',
      'POST /:id/retry',
      'POST /:id/play',
      'POST /:id/erase',
      'POST /:id/keep',
      'GET /:id/artifacts/browse',
      'GET /:id/artifacts/browse/:path',
      'GET /:id/artifacts/exposed',
    ],
  },
  {
    noun: 'pipeline_schedules',
    tab: 'pipelines',
    name: 'Schedules',
    action: 'read_pipeline',
    lines: [
      'GET',
      'POST',
      'GET /:id',
      'POST /:id',
      'POST /:id/play',
      'POST /:id/take_ownership',
      'POST /:id/delete',
      'POST /:id/variables',
      'POST /:id/variables/edit',
      'POST /:id/variables/delete',
    ],
  },
  {
    noun: 'environments',
    tab: 'pipelines',
    name: 'Environments',
    action: 'read_environment',
    lines: ['GET', 'POST', 'GET /:id', 'POST /:id', 'POST /:id/stop', 'POST /:id/delete'],
  },
  {
    noun: 'settings',
    tab: 'settings',
    name: 'General',
    action: 'admin_project',
    lines: [
      'GET',
      'POST /mail',
      'GET /repository',
      'POST /about',
      'POST /visibility',
      'POST /features',
      'POST /avatar',
      'POST /avatar/delete',
      'POST /path',
      'POST /archive',
      'POST /unarchive',
      'POST /transfer',
      'POST /delete',
    ],
  },
  {
    noun: 'project_members',
    tab: 'settings',
    name: 'Members',
    action: 'admin_member',
    lines: memberLines,
  },
  {
    noun: 'settings/merge_requests',
    tab: 'settings',
    name: 'Merge requests',
    action: 'admin_project',
    lines: ['GET', 'POST /method', 'POST /checks', 'POST /messages'],
  },
  {
    noun: 'protected_branches',
    tab: 'settings',
    name: 'Protected branches',
    action: 'read_protected_ref',
    lines: ['GET', 'POST', 'POST /change', 'POST /delete'],
  },
  {
    noun: 'protected_tags',
    tab: 'settings',
    name: 'Protected tags',
    action: 'read_protected_ref',
    lines: ['GET', 'POST', 'POST /delete'],
  },
  {
    noun: 'deploy_keys',
    tab: 'settings',
    name: 'Deploy keys',
    action: 'admin_deploy_key',
    lines: ['GET', 'POST', 'POST /:id', 'POST /:id/delete', 'POST /:id/enable'],
  },
  {
    noun: 'deploy_tokens',
    tab: 'settings',
    name: 'Deploy tokens',
    action: 'admin_project',
    lines: deployTokenLines,
  },
  {
    noun: 'settings/access_tokens',
    tab: 'settings',
    name: 'Access tokens',
    action: 'admin_member',
    lines: accessTokenLines,
  },
  {
    noun: 'settings/integrations',
    tab: 'settings',
    name: 'Integrations',
    action: 'admin_integration',
    lines: ['GET', 'GET /:key', 'POST /:key', 'POST /:key/delete'],
  },
  { noun: 'hooks', tab: 'settings', name: 'Webhooks', action: 'admin_hook', lines: hookLines },
  {
    noun: 'settings/ci_cd',
    tab: 'settings',
    name: 'CI/CD',
    action: 'admin_project',
    lines: ['GET', 'POST /pipelines', 'POST /jobs', 'POST /artifacts'],
  },
  {
    noun: 'variables',
    tab: 'settings',
    name: 'Variables',
    action: 'admin_variable',
    lines: variableLines,
  },
  {
    noun: 'triggers',
    tab: 'settings',
    name: 'Triggers',
    action: 'admin_trigger',
    lines: ['GET', 'POST', 'POST /:id', 'POST /:id/delete'],
  },
  {
    noun: 'runners',
    tab: 'settings',
    name: 'Runners',
    action: 'admin_runner',
    lines: [...runnerLines, 'POST /:id/disable'],
  },
  {
    noun: 'job_token_scope',
    tab: 'settings',
    name: 'Job tokens',
    action: 'admin_project',
    lines: [
      'GET',
      'POST',
      'POST /projects',
      'POST /projects/:id/delete',
      'POST /groups',
      'POST /groups/:id/delete',
    ],
  },
  { noun: 'boards', tab: 'issues', name: 'Boards', action: 'read_board', lines: boardLines },
  {
    noun: 'labels',
    tab: 'issues',
    name: 'Labels',
    action: 'read_label',
    lines: labelLines,
  },
  {
    noun: 'milestones',
    tab: 'issues',
    name: 'Milestones',
    action: 'read_milestone',
    lines: milestoneLines,
  },
] as const satisfies readonly ProjectNoun[];

export const groupNouns = [
  { noun: 'activity', tab: 'activity', name: 'Activity', action: 'read_group', lines: ['GET'] },
  { noun: 'notification_setting', tab: 'activity', action: 'read_group', lines: ['POST'] },
  // Lists of issues require an account, like those of members.
  { noun: 'issues', tab: 'issues', name: 'Issues', action: 'read_group_member', lines: ['GET'] },
  {
    noun: 'merge_requests',
    tab: 'merge_requests',
    name: 'Merge requests',
    action: 'read_group_member',
    lines: ['GET'],
  },
  { noun: 'issues.atom', tab: 'issues', action: 'read_group_member', lines: ['GET'] },
  { noun: 'issues.ics', tab: 'issues', action: 'read_group_member', lines: ['GET'] },
  { noun: 'merge_requests.atom', tab: 'merge_requests', action: 'read_group_member', lines: ['GET'] },
  {
    noun: 'group_members',
    tab: 'members',
    name: 'Members',
    action: 'read_group_member',
    lines: memberLines,
  },
  {
    noun: 'settings',
    tab: 'settings',
    name: 'General',
    action: 'admin_group',
    lines: [
      'GET',
      'POST /about',
      'POST /avatar',
      'POST /visibility',
      'POST /permissions',
      'POST /two_factor',
      'POST /repositories',
      'POST /runners',
      'POST /path',
      'POST /transfer',
      'POST /delete',
    ],
  },
  {
    noun: 'deploy_tokens',
    tab: 'settings',
    name: 'Deploy tokens',
    action: 'admin_group',
    lines: deployTokenLines,
  },
  {
    noun: 'settings/access_tokens',
    tab: 'settings',
    name: 'Access tokens',
    action: 'admin_group_member',
    lines: accessTokenLines,
  },
  {
    noun: 'variables',
    tab: 'settings',
    name: 'Variables',
    action: 'admin_group_variable',
    lines: variableLines,
  },
  {
    noun: 'runners',
    tab: 'settings',
    name: 'Runners',
    action: 'admin_group_runner',
    lines: runnerLines,
  },
  { noun: 'hooks', tab: 'settings', name: 'Webhooks', action: 'admin_group_hook', lines: hookLines },
  { noun: 'boards', tab: 'issues', name: 'Boards', action: 'read_group_member', lines: boardLines },
  {
    noun: 'labels',
    tab: 'issues',
    name: 'Labels',
    action: 'read_group_member',
    lines: labelLines,
  },
  {
    noun: 'milestones',
    tab: 'issues',
    name: 'Milestones',
    action: 'read_group_member',
    lines: milestoneLines,
  },
] as const satisfies readonly GroupNoun[];

/** The lines of a noun's pages as they are served: `POST /-/projects/:project/pipelines/:id/cancel`. */
export const servedLines = (
  root: string,
  { noun, lines }: Pick<NounPages<unknown, unknown>, 'noun' | 'lines'>,
): string[] =>
  lines.map((line) => {
    const [method = '', below = ''] = line.split(' ');
    return `${method} ${root}/${noun}${below}`;
  });

/** Nouns whose pages are at `/group/project/issues`, without `/-/`, as `web_url` says. */
const bareNouns: readonly string[] = ['tree', 'commit', 'compare', 'issues', 'merge_requests', 'snippets'];

/** Checks whether a page of a project has no `/-/`. @param below what follows the project's path: `issues/3` */
export const isBareNoun = (below: string): boolean => bareNouns.includes(below.split('/')[0] ?? '');
