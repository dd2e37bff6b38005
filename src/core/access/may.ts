/** The permission table: which role may do what. `docs/access.txt` shows it by role and visibility. */
import type { FeatureLevel, ProjectCreationLevel } from '../../platform/db/schema/column_types.ts';
import { levels } from './levels.ts';
import { type ProjectFacts, type Viewer, getNamespaceLevel, getProjectLevel } from './viewer.ts';
import { type Feature, canReadCode, canSeeProject, hasFeature, isOpenTo } from './visible.ts';

type Rule = {
  /** Minimum role. */
  level: number;
  /** Any signed-in user who can see the project acts as a guest. */
  open?: true;
  /** Like `open`, but also without signing in. */
  anonymous?: true;
  /** The record's author and assignees are allowed, too. */
  own?: true;
  /** Allowed only if this feature is enabled. */
  feature?: Feature;
  /** Allowed only if all of these features are enabled. */
  requires?: readonly Feature[];
  /** Allowed only if one of these features is enabled. */
  features?: readonly Feature[];
  /** Everyone who sees the project is allowed, if its pipelines are public. */
  publicBuilds?: true;
  /** Allowed only with read access to the project's code. */
  needsCode?: true;
  /** Refused if the project is archived. */
  frozen?: true;
};

const { guest, reporter, developer, master, owner } = levels;
const issues = 'issues_access_level' as const;
const snippets = 'snippets_access_level' as const;
const code = 'repository_access_level' as const;
const mergeRequests = 'merge_requests_access_level' as const;
const builds = 'builds_access_level' as const;
/** Features whose records have labels and milestones. */
const tracked = [issues, 'merge_requests_access_level'] as const;
/** Jobs reveal code through logs, commits and artifacts. */
const readable = [code] as const;
const forking = 'forking_access_level' as const;
const released = [code, 'releases_access_level'] as const;
const deployed = [builds, code, 'environments_access_level'] as const;
const registry = 'container_registry_access_level' as const;

export const projectRules = {
  read_project: { level: guest, open: true, anonymous: true },
  read_issue: { level: guest, open: true, anonymous: true, feature: issues },
  create_issue: { level: guest, open: true, feature: issues },
  create_note: { level: guest, open: true },
  /** To read and write comments that are hidden from others: `visible.ts` has the same rule as SQL. */
  internal_note: { level: reporter },
  award_emoji: { level: guest, open: true },
  update_issue: { level: reporter, own: true, feature: issues },
  /** Entries of time that others spent. */
  delete_time_entry: { level: master, features: tracked },
  admin_issue: { level: reporter, feature: issues },
  move_issue: { level: reporter, feature: issues },
  set_issue_times: { level: owner, feature: issues },
  destroy_issue: { level: owner, feature: issues },
  set_note_times: { level: owner },
  read_board: { level: guest, open: true, anonymous: true, feature: issues },
  admin_board: { level: reporter, feature: issues },
  read_label: { level: guest, open: true, features: tracked },
  admin_label: { level: reporter, features: tracked },
  read_milestone: { level: guest, open: true, features: tracked },
  admin_milestone: { level: developer, features: tracked },
  admin_note: { level: master, own: true },
  read_member: { level: guest, open: true },
  admin_member: { level: master },
  admin_deploy_key: { level: master },
  admin_project: { level: master },
  rename_project: { level: owner },
  change_visibility: { level: owner },
  transfer_project: { level: owner },
  archive_project: { level: owner },
  remove_project: { level: owner },
  upload_file: { level: guest, open: true },
  read_snippet: { level: guest, open: true, anonymous: true, feature: snippets },
  create_snippet: { level: reporter, feature: snippets },
  admin_snippet: { level: master, own: true, feature: snippets },
  pull_image: { level: reporter, open: true, anonymous: true, feature: registry },
  push_image: { level: developer, feature: registry, frozen: true },
  delete_image: { level: master, feature: registry, frozen: true },
  read_code: { level: reporter, open: true, anonymous: true, feature: code },
  push_code: { level: developer, feature: code, frozen: true },
  read_protected_ref: { level: master, feature: code },
  admin_protected_ref: { level: master, feature: code, frozen: true },
  fork_project: { level: reporter, open: true, requires: [code, forking] },
  comment_on_commit: { level: reporter, open: true, feature: code },
  admin_commit_status: { level: developer, feature: code, frozen: true },
  lint_ci: { level: developer, feature: code },
  read_release: { level: reporter, open: true, anonymous: true, requires: released },
  admin_release: { level: developer, requires: released, frozen: true },
  admin_integration: { level: master },
  admin_hook: { level: master },
  admin_variable: { level: master },
  read_job: { level: reporter, publicBuilds: true, feature: builds, features: readable },
  /** Artifacts that the job's configuration does not make public. */
  read_members_artifact: { level: developer, feature: builds, features: readable },
  read_masters_artifact: { level: master, feature: builds, features: readable },
  /** Logs that show the values of variables. */
  read_debug_trace: { level: developer, feature: builds, features: readable },
  update_job: { level: developer, feature: builds, features: readable, frozen: true },
  destroy_artifact: { level: master, feature: builds, features: readable, frozen: true },
  read_pipeline: { level: reporter, publicBuilds: true, feature: builds, features: readable },
  create_pipeline: { level: developer, feature: builds, features: readable, frozen: true },
  destroy_pipeline: { level: owner, feature: builds, features: readable, frozen: true },
  admin_runner: { level: master },
  admin_trigger: { level: master },
  admin_schedule: { level: developer, feature: builds, features: readable, frozen: true },
  read_environment: { level: reporter, requires: deployed },
  admin_environment: { level: developer, requires: deployed, frozen: true },
  read_feature_flag: { level: developer },
  destroy_deployment: { level: master, requires: deployed, frozen: true },
  read_merge_request: {
    level: reporter,
    open: true,
    anonymous: true,
    feature: mergeRequests,
    needsCode: true,
  },
  create_merge_request_from: { level: developer, feature: code, frozen: true },
  create_merge_request_in: {
    level: reporter,
    open: true,
    feature: mergeRequests,
    needsCode: true,
    frozen: true,
  },
  update_merge_request: {
    level: developer,
    own: true,
    feature: mergeRequests,
    needsCode: true,
    frozen: true,
  },
  admin_merge_request: { level: developer, feature: mergeRequests, needsCode: true, frozen: true },
  approve_merge_request: { level: developer, feature: mergeRequests, needsCode: true, frozen: true },
  resolve_discussion: { level: developer, own: true },
  destroy_merge_request: { level: owner, feature: mergeRequests },
} satisfies Record<string, Rule>;

export const groupRules = {
  read_group: { level: guest, open: true, anonymous: true },
  create_project: { level: master },
  admin_group_label: { level: reporter },
  admin_group_board: { level: reporter },
  admin_group_milestone: { level: master },
  read_group_member: { level: guest, open: true },
  admin_group: { level: owner },
  admin_group_member: { level: owner },
  create_subgroup: { level: owner },
  admin_group_variable: { level: owner },
  admin_group_runner: { level: owner },
  admin_group_hook: { level: owner },
} satisfies Record<string, Rule>;

export type ProjectAction = keyof typeof projectRules;
export type GroupAction = keyof typeof groupRules;

/** Author and assignees of a record. */
export type Subject = { author_id: number; assignee_ids?: number[] };

const allows = (rule: Rule, viewer: Viewer, level: number, isOpen: boolean): boolean => {
  // A deploy token has a role without a user.
  if (viewer.user_id === null && level === 0) return rule.anonymous === true && isOpen;
  return level >= rule.level || (rule.open === true && isOpen);
};

const isOwn = (viewer: Viewer, subject: Subject | undefined): boolean =>
  viewer.user_id !== null &&
  subject !== undefined &&
  (subject.author_id === viewer.user_id || subject.assignee_ids?.includes(viewer.user_id) === true);

type ProjectSubject = ProjectFacts & { archived?: number; public_builds?: number } & {
  [F in Feature]?: FeatureLevel;
};

export const may = (
  viewer: Viewer,
  action: ProjectAction,
  project: ProjectSubject,
  subject?: Subject,
): boolean => {
  const rule: Rule = projectRules[action];
  if (!canSeeProject(viewer, project)) return false;
  if (rule.feature !== undefined && !hasFeature(viewer, project, rule.feature)) return false;
  if (rule.requires?.every((feature) => hasFeature(viewer, project, feature)) === false) return false;
  if (rule.features?.some((feature) => hasFeature(viewer, project, feature)) === false) return false;
  if (rule.needsCode === true && !canReadCode(viewer, project)) return false;
  if (rule.frozen === true && project.archived === 1) return false;
  if (rule.own === true && isOwn(viewer, subject)) return true;
  if (rule.publicBuilds === true && project.public_builds === 1) return true;
  return allows(rule, viewer, getProjectLevel(viewer, project), isOpenTo(viewer, project.visibility));
};

type GroupSubject = {
  id: number;
  visibility: 'private' | 'internal' | 'public';
  project_creation_level?: ProjectCreationLevel;
  subgroup_creation_level?: 'owner' | 'maintainer';
};

/** Roles that the settings of groups name. Administrators are exempt from the setting of a group. */
export const creationLevels: { [L in ProjectCreationLevel]: number } = {
  noone: Infinity,
  administrator: Infinity,
  owner,
  maintainer: master,
  developer,
};

/** Minimum role that the group itself sets for an action. */
const ownRule = (
  action: GroupAction,
  { project_creation_level, subgroup_creation_level }: GroupSubject,
): Pick<Rule, 'level'> | null => {
  const option = { create_project: project_creation_level, create_subgroup: subgroup_creation_level };
  const level = action in option ? option[action as keyof typeof option] : undefined;
  return level === undefined ? null : { level: creationLevels[level] };
};

export const mayInGroup = (viewer: Viewer, action: GroupAction, group: GroupSubject): boolean => {
  const rule: Rule = { ...groupRules[action], ...ownRule(action, group) };
  if (viewer.admin) return true;
  return allows(rule, viewer, getNamespaceLevel(viewer, group.id), isOpenTo(viewer, group.visibility));
};
