/** The modules that contain the pages of projects and groups. */
import type { groupNouns } from './group_pages.ts';
import type { AnyPage } from './page.ts';
import type { projectNouns } from './project_pages.ts';

/** Loads the pages of a module. */
export type Load = () => Promise<readonly AnyPage[]>;

export const homePages: Load = async () => (await import('./pages/projects/pages.ts')).pages;

const editPages: Load = async () => (await import('./pages/edit/pages.ts')).pages;

const releasePages: Load = async () => (await import('./pages/releases/pages.ts')).pages;

export const activityPages: Load = async () => (await import('./pages/activity/pages.ts')).pages;

export const hookPages: Load = async () => (await import('./pages/hooks/pages.ts')).pages;

const issuePages: Load = async () => (await import('./pages/issues/pages.ts')).pages;

const groupIssuePages: Load = async () => (await import('./pages/groups/issues.ts')).pages;

const groupRequestPages: Load = async () => (await import('./pages/groups/merge_requests.ts')).pages;

const accessTokenPages: Load = async () => (await import('./pages/access_tokens/pages.ts')).pages;

const deployTokenPages: Load = async () => (await import('./pages/deploy_tokens/pages.ts')).pages;

const badgePages: Load = async () => (await import('./pages/badges/pages.ts')).pages;

const boardPages: Load = async () => (await import('./pages/boards/pages.ts')).pages;

const requestPages: Load = async () => (await import('./pages/merge_requests/pages.ts')).pages;

/** Pages of projects, by noun of `project_pages.ts`. */
export const projectPages: Record<(typeof projectNouns)[number]['noun'], Load> = {
  star: homePages,
  unstar: homePages,
  starrers: homePages,
  activity: activityPages,
  'activity.atom': activityPages,
  notification_setting: homePages,
  forks: homePages,
  update_fork: homePages,
  import: homePages,
  archive: homePages,
  commits: async () => (await import('./pages/commits/pages.ts')).pages,
  commit: async () => (await import('./pages/commit/pages.ts')).pages,
  compare: async () => (await import('./pages/compare/pages.ts')).pages,
  blame: async () => (await import('./pages/blame/pages.ts')).pages,
  find_file: async () => (await import('./pages/find_file/pages.ts')).pages,
  graphs: async () => (await import('./pages/contributors/pages.ts')).pages,
  blob: async () => (await import('./pages/blob/pages.ts')).pages,
  raw: async () => (await import('./pages/blob/pages.ts')).pages,
  tree: async () => (await import('./pages/tree/pages.ts')).pages,
  new: editPages,
  new_folder: editPages,
  upload: editPages,
  edit: editPages,
  delete: editPages,
  branches: async () => (await import('./pages/branches/pages.ts')).pages,
  tags: async () => (await import('./pages/tags/pages.ts')).pages,
  issues: issuePages,
  'issues.atom': issuePages,
  'issues.ics': issuePages,
  releases: releasePages,
  'releases.atom': releasePages,
  merge_requests: requestPages,
  'merge_requests.atom': requestPages,
  snippets: async () => (await import('./pages/snippets/pages.ts')).pages,
  pipelines: async () => (await import('./pages/ci/pages.ts')).pages,
  'ci/lint': async () => (await import('./pages/ci/lint/pages.ts')).pages,
  jobs: async () => (await import('./pages/ci/pages.ts')).pages,
  pipeline_schedules: async () => (await import('./pages/schedules/pages.ts')).pages,
  environments: async () => (await import('./pages/environments/pages.ts')).pages,
  settings: async () => (await import('./pages/project_settings/pages.ts')).pages,
  project_members: async () => (await import('./pages/members/pages.ts')).pages,
  'settings/merge_requests': async () => (await import('./pages/project_settings/pages.ts')).pages,
  protected_branches: async () => (await import('./pages/protected/pages.ts')).pages,
  protected_tags: async () => (await import('./pages/protected/pages.ts')).pages,
  deploy_keys: async () => (await import('./pages/deploy_keys/pages.ts')).pages,
  deploy_tokens: deployTokenPages,
  'settings/access_tokens': accessTokenPages,
  'settings/badges': badgePages,
  'settings/integrations': async () => (await import('./pages/integrations/pages.ts')).pages,
  'settings/ci_cd': async () => (await import('./pages/project_settings/pages.ts')).pages,
  hooks: hookPages,
  variables: async () => (await import('./pages/variables/pages.ts')).pages,
  triggers: async () => (await import('./pages/triggers/pages.ts')).pages,
  runners: async () => (await import('./pages/runners/pages.ts')).pages,
  job_token_scope: async () => (await import('./pages/job_token_scope/pages.ts')).pages,
  boards: boardPages,
  labels: async () => (await import('./pages/labels/pages.ts')).pages,
  milestones: async () => (await import('./pages/milestones/pages.ts')).pages,
};

/** Pages of groups, by noun of `group_pages.ts`. */
export const groupPages: Record<(typeof groupNouns)[number]['noun'], Load> = {
  activity: activityPages,
  'activity.atom': activityPages,
  notification_setting: async () => (await import('./pages/groups/notification_setting.ts')).pages,
  group_members: async () => (await import('./pages/members/pages.ts')).pages,
  variables: async () => (await import('./pages/variables/pages.ts')).pages,
  runners: async () => (await import('./pages/runners/pages.ts')).pages,
  hooks: hookPages,
  issues: groupIssuePages,
  'issues.atom': groupIssuePages,
  'issues.ics': groupIssuePages,
  merge_requests: groupRequestPages,
  'merge_requests.atom': groupRequestPages,
  settings: async () => (await import('./pages/groups/settings_page.ts')).pages,
  deploy_tokens: deployTokenPages,
  'settings/access_tokens': accessTokenPages,
  'settings/badges': badgePages,
  boards: boardPages,
  labels: async () => (await import('./pages/labels/pages.ts')).pages,
  milestones: async () => (await import('./pages/milestones/pages.ts')).pages,
};
