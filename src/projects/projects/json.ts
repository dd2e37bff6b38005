import type { Call } from '../../core/access/call.ts';
import type { Site } from '../../core/access/site.ts';
import { may } from '../../core/access/may.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import { type Feature, hasFeature } from '../../core/access/visible.ts';
import {
  array,
  bool,
  int,
  nullable,
  object,
  optional,
  string,
  timestamp,
} from '../../platform/http/schema.ts';
import { basicNamespaceShape, namespaceJson } from '../../identity/namespaces/json.ts';
import type { NotificationLevel } from '../../platform/db/schema/column_types.ts';
import type { Config } from '../../platform/config/fields.ts';
import { loadFullNames, joinNames } from '../../identity/namespaces/full_names.ts';
import { formatTime } from '../../platform/time.ts';
import { basicUser, basicUserShape } from '../../identity/users/json.ts';
import { loadSharedGroups, sharedGroupShape } from '../../identity/groups/group_links.ts';
import { uploadedAvatarUrl } from '../../identity/avatars/avatar_urls.ts';
import { featureFields, featuresJson } from './features.ts';
import { type ProjectImport, importJson, loadImports } from './imports/load_imports.ts';
import { countOpenIssues } from './related/count_open_issues.ts';
import { loadForkParents } from './related/fork_parents.ts';
import { toLevelNumber } from './related/notification_levels.ts';
import type { ProjectRow } from './rows.ts';
import { type ProjectStatistics, loadStatistics } from './related/statistics.ts';
import { sshPrefix } from './ssh_url.ts';
import { splitTopics, topicFields } from './topics.ts';

/** The attributes that everybody who sees a project gets, and all of `simple=true`. */
const basicFields = {
  id: int,
  description: nullable(string),
  default_branch: nullable(string),
  ...topicFields,
  ssh_url_to_repo: string,
  http_url_to_repo: string,
  web_url: string,
  name: string,
  name_with_namespace: string,
  path: string,
  path_with_namespace: string,
  avatar_url: nullable(string),
  star_count: int,
  forks_count: int,
  created_at: timestamp,
  last_activity_at: timestamp,
  namespace: basicNamespaceShape,
};

const role = nullable(object({ access_level: int, notification_level: int }));

/** A project for signed-in users; others get the basic fields. */
export const projectShape = object({
  ...basicFields,
  _links: optional(
    object({
      self: string,
      issues: optional(string),
      merge_requests: optional(string),
      repo_branches: string,
      labels: string,
      events: string,
      members: string,
    }),
  ),
  archived: optional(bool),
  visibility: optional(string),
  updated_at: optional(timestamp),
  owner: optional(basicUserShape),
  resolve_outdated_diff_discussions: optional(bool),
  ...featureFields,
  shared_runners_enabled: optional(bool),
  group_runners_enabled: optional(bool),
  emails_disabled: optional(bool),
  emails_enabled: optional(bool),
  license_url: optional(nullable(string)),
  creator_id: optional(nullable(int)),
  import_status: optional(string),
  import_url: optional(nullable(string)),
  import_type: optional(nullable(string)),
  import_error: optional(nullable(string)),
  open_issues_count: optional(int),
  runners_token: optional(nullable(string)),
  public_jobs: optional(bool),
  ci_config_path: optional(nullable(string)),
  build_timeout: optional(int),
  max_artifacts_size: optional(nullable(int)),
  auto_cancel_pending_pipelines: optional(string),
  ci_default_git_depth: optional(int),
  keep_latest_artifact: optional(bool),
  shared_with_groups: optional(array(sharedGroupShape)),
  only_allow_merge_if_pipeline_succeeds: optional(bool),
  request_access_enabled: optional(bool),
  only_allow_merge_if_all_discussions_are_resolved: optional(bool),
  printing_merge_request_link_enabled: optional(bool),
  merge_method: optional(string),
  squash_option: optional(string),
  remove_source_branch_after_merge: optional(bool),
  autoclose_referenced_issues: optional(bool),
  merge_commit_template: optional(nullable(string)),
  squash_commit_template: optional(nullable(string)),
  suggestion_commit_message: optional(nullable(string)),
  empty_repo: optional(bool),
  repository_storage: optional(string),
  forked_from_project: optional(object(basicFields)),
  statistics: optional(
    object({
      commit_count: int,
      storage_size: int,
      repository_size: int,
      lfs_objects_size: int,
      job_artifacts_size: int,
    }),
  ),
  permissions: optional(object({ project_access: role, group_access: role })),
});

export type Detail = 'basic' | 'full';

type Context = Site & {
  viewer: Viewer;
  /** Prefix of SSH clone URLs. */
  ssh: string;
  config: Config;
  names: Map<number, string>;
  /** Visible projects that these were forked from. */
  parents: Map<number, ProjectRow>;
  statistics: Map<number, ProjectStatistics>;
  /** Groups with which these are shared. */
  shared: Awaited<ReturnType<typeof loadSharedGroups>>;
  imports: Map<number, ProjectImport>;
};

const basicJson = (row: ProjectRow, { ssh, names, ...site }: Context) => ({
  id: row.id,
  description: row.description,
  default_branch: row.default_branch,
  tag_list: splitTopics(row.topics),
  topics: splitTopics(row.topics),
  // Read from the repository for single projects only (`related/root_files.ts`): a list would ask for each.
  readme_url: null,
  ssh_url_to_repo: `${ssh}${row.full_path}.git`,
  http_url_to_repo: `${site.baseUrl}/${row.full_path}.git`,
  web_url: `${site.baseUrl}/${row.full_path}`,
  name: row.name,
  name_with_namespace: joinNames(names.get(row.namespace_id) ?? row.namespace_name, row.name),
  path: row.path,
  path_with_namespace: row.full_path,
  avatar_url: uploadedAvatarUrl(site, 'project', row),
  star_count: row.star_count,
  forks_count: row.forks_count,
  created_at: formatTime(row.created_at),
  last_activity_at: formatTime(row.last_activity_at),
  namespace: namespaceJson(
    {
      id: row.namespace_id,
      name: row.namespace_name,
      path: row.namespace_path,
      kind: row.namespace_kind,
      full_path: row.namespace_full_path,
      parent_id: row.namespace_parent_id,
      avatar: row.namespace_avatar,
      owner_id: row.owner_id,
      owner_email: row.owner_email,
      owner_avatar: row.owner_avatar,
    },
    site,
  ),
});

const makeLinks = (row: ProjectRow, { viewer, baseUrl }: Context) => {
  const self = `${baseUrl}/api/v4/projects/${row.id}`;
  const link = (feature: Feature, path: string): string | undefined =>
    hasFeature(viewer, row, feature) ? `${self}/${path}` : undefined;
  return {
    self,
    issues: link('issues_access_level', 'issues'),
    merge_requests: link('merge_requests_access_level', 'merge_requests'),
    repo_branches: `${self}/repository/branches`,
    labels: `${self}/labels`,
    events: `${self}/events`,
    members: `${self}/members`,
  };
};

const ownerJson = (row: ProjectRow, site: Site) => {
  const { owner_id, owner_name, owner_username, owner_state, owner_email, owner_avatar } = row;
  if (owner_id === null || owner_name === null || owner_username === null) return undefined;
  const owner = { id: owner_id, name: owner_name, username: owner_username, avatar: owner_avatar };
  return basicUser({ ...owner, state: owner_state ?? 'active', email: owner_email ?? '' }, site);
};

/** Returns the number of open issues; undefined for viewers who may not see the issues of the project. */
const openIssuesJson = (row: ProjectRow, viewer: Viewer): number | undefined =>
  hasFeature(viewer, row, 'issues_access_level') ? countOpenIssues(viewer, row) : undefined;

/** Returns the viewer's roles in the project and its group. Administrators have none implicitly. */
const permissionsJson = (row: ProjectRow, { projectLevels, namespaceLevels }: Viewer) => {
  const toRoleJson = (level: number | undefined, notification: NotificationLevel | null) =>
    level === undefined ? null : { access_level: level, notification_level: toLevelNumber(notification) };
  const inGroup = row.namespace_kind === 'group' ? namespaceLevels.get(row.namespace_id) : undefined;
  return {
    project_access: toRoleJson(projectLevels.get(row.id), row.project_notification_level),
    group_access: toRoleJson(inGroup, row.group_notification_level),
  };
};

const forkParentJson = ({ forked_from_project_id: id }: ProjectRow, context: Context) => {
  const parent = id === null ? undefined : context.parents.get(id);
  return parent && basicJson(parent, context);
};

const fullJson = (row: ProjectRow, context: Context) => {
  const { viewer } = context;
  return {
    ...basicJson(row, context),
    _links: makeLinks(row, context),
    archived: row.archived === 1,
    visibility: row.visibility,
    updated_at: formatTime(row.updated_at),
    owner: ownerJson(row, context),
    resolve_outdated_diff_discussions: false,
    ...featuresJson(row, viewer, context.config),
    shared_runners_enabled: row.shared_runners_enabled === 1,
    group_runners_enabled: row.group_runners_enabled === 1,
    emails_disabled: row.emails_enabled === 0,
    emails_enabled: row.emails_enabled === 1,
    creator_id: row.creator_id,
    ...projectImportJson(row, context),
    open_issues_count: openIssuesJson(row, viewer),
    ...(may(viewer, 'admin_project', row) && { runners_token: null }),
    public_jobs: row.public_builds === 1,
    ci_config_path: row.ci_config_path,
    build_timeout: row.build_timeout,
    max_artifacts_size: row.max_artifacts_size,
    auto_cancel_pending_pipelines: row.auto_cancel_pending_pipelines,
    ci_default_git_depth: row.ci_default_git_depth,
    keep_latest_artifact: row.keep_latest_artifact === 1,
    shared_with_groups: context.shared.get(row.id) ?? [],
    only_allow_merge_if_pipeline_succeeds: row.only_allow_merge_if_pipeline_succeeds === 1,
    request_access_enabled: row.request_access_enabled === 1,
    only_allow_merge_if_all_discussions_are_resolved:
      row.only_allow_merge_if_all_discussions_are_resolved === 1,
    printing_merge_request_link_enabled: row.printing_merge_request_link_enabled === 1,
    merge_method: row.merge_method,
    squash_option: row.squash_option,
    remove_source_branch_after_merge: row.remove_source_branch_after_merge === 1,
    autoclose_referenced_issues: row.autoclose_referenced_issues === 1,
    merge_commit_template: row.merge_commit_template,
    squash_commit_template: row.squash_commit_template,
    suggestion_commit_message: row.suggestion_commit_message,
    empty_repo: row.default_branch === null,
    ...(viewer.admin && { repository_storage: row.repository_storage }),
    forked_from_project: forkParentJson(row, context),
    statistics: context.statistics.get(row.id),
    permissions: permissionsJson(row, viewer),
  };
};

/** Returns the status of the import, with its URL and error for viewers who can change the project. */
const projectImportJson = (row: ProjectRow, { viewer, imports }: Context) => {
  const imported = imports.get(row.id);
  return may(viewer, 'admin_project', row)
    ? { ...importJson(row, imported), import_url: imported?.url ?? null }
    : { import_status: row.import_status };
};

/** Returns the projects that have an import. */
const listImported = (rows: readonly ProjectRow[]): number[] =>
  rows.filter(({ import_status }) => import_status !== 'none').map(({ id }) => id);

/**
 * Renders projects. Anonymous callers always get the basic fields.
 * @param statistics whether to include sizes for viewers who can see them
 */
export const projectsJson = async (
  call: Call,
  rows: readonly ProjectRow[],
  detail: Detail = 'full',
  statistics = false,
) => {
  const { db, viewer, baseUrl, settings } = call;
  const { config } = call.platform;
  const isBasic = viewer.user_id === null || detail === 'basic';
  const parents = isBasic ? new Map<number, ProjectRow>() : await loadForkParents(call, rows);
  const namespaces = [...rows, ...parents.values()].map((row) => ({
    id: row.namespace_id,
    name: row.namespace_name,
    parent_id: row.namespace_parent_id,
  }));
  const context = {
    viewer,
    baseUrl,
    settings,
    ssh: sshPrefix(baseUrl, config),
    config,
    names: await loadFullNames(db, namespaces),
    parents,
    statistics:
      isBasic || !statistics ? new Map<number, ProjectStatistics>() : await loadStatistics(call, rows),
    shared: await loadSharedGroups(call, 'Project', isBasic ? [] : rows.map(({ id }) => id)),
    imports: await loadImports(db, isBasic ? [] : listImported(rows)),
  };
  const toJson = isBasic ? basicJson : fullJson;
  return rows.map((row) => toJson(row, context));
};
