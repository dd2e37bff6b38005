/** Row types of the tables of projects, labels, milestones, snippets, uploads; conventions as in `database.ts`. */
import type { Generated } from 'kysely';
import type { FeatureLevel, Flag, Id, NotificationLevel, Visibility } from './column_types.ts';

export type ProjectsTable = {
  id: Id;
  namespace_id: number;
  path: string;
  /** `namespace/project`, kept in step with `routes`. */
  full_path: string;
  name: string;
  description: string | null;
  visibility: Visibility;
  creator_id: number | null;
  default_branch: string | null;
  archived: Generated<Flag>;
  issues_access_level: Generated<FeatureLevel>;
  merge_requests_access_level: Generated<FeatureLevel>;
  builds_access_level: Generated<FeatureLevel>;
  repository_access_level: Generated<FeatureLevel>;
  snippets_access_level: Generated<FeatureLevel>;
  forking_access_level: Generated<FeatureLevel>;
  releases_access_level: Generated<FeatureLevel>;
  environments_access_level: Generated<FeatureLevel>;
  container_registry_access_level: Generated<FeatureLevel>;
  public_builds: Generated<Flag>;
  shared_runners_enabled: Generated<Flag>;
  group_runners_enabled: Generated<Flag>;
  request_access_enabled: Generated<Flag>;
  only_allow_merge_if_pipeline_succeeds: Generated<Flag>;
  only_allow_merge_if_all_discussions_are_resolved: Generated<Flag>;
  forked_from_project_id: number | null;
  repository_storage: Generated<string>;
  /** Path below the storage's root; null: derived from the id, as in earlier versions. */
  repository_path: Generated<string | null>;
  /** 1: refs were written, so the repository must exist. */
  repository_written: Generated<Flag>;
  /** 1: the repository moves to another storage and is read-only. */
  repository_moving: Generated<Flag>;
  /** While it is `scheduled` or `started`, nothing else changes the repository. */
  import_status: Generated<ImportStatus>;
  /** Merge method: merge commit, merge commit with linear history, or fast-forward. */
  merge_method: Generated<'merge' | 'rebase_merge' | 'ff'>;
  squash_option: Generated<'never' | 'always' | 'default_on' | 'default_off'>;
  remove_source_branch_after_merge: Generated<Flag>;
  /** Templates of the messages of merges, squashes and applied suggestions; null: the defaults. */
  merge_commit_template: Generated<string | null>;
  squash_commit_template: Generated<string | null>;
  suggestion_commit_message: Generated<string | null>;
  /** True if merges and pushes close the issues of this project that they reference. */
  autoclose_referenced_issues: Generated<Flag>;
  printing_merge_request_link_enabled: Generated<Flag>;
  /** 0 if nobody gets mails about the project. */
  emails_enabled: Generated<Flag>;
  /** Root of the fork network; null: none, or itself. */
  fork_network_id: Generated<number | null>;
  /** Path of the CI configuration; null: `.gitlab-ci.yml`. */
  ci_config_path: Generated<string | null>;
  /** Timeout of jobs in seconds. */
  build_timeout: Generated<number>;
  /** Maximum megabytes of an artifact file; null: the instance's limit. */
  max_artifacts_size: Generated<number | null>;
  auto_cancel_pending_pipelines: Generated<'enabled' | 'disabled'>;
  ci_default_git_depth: Generated<number>;
  keep_latest_artifact: Generated<Flag>;
  /** Only jobs of listed projects have access. */
  job_token_list_enabled: Generated<Flag>;
  /** Same format as `users.avatar`. */
  avatar: Generated<string | null>;
  /** SHA-256 of the runner registration token. */
  runners_token_hash: Generated<string | null>;
  created_at: number;
  updated_at: number;
  last_activity_at: number;
  deleted_at: number | null;
};

export type ImportStatus = 'none' | 'scheduled' | 'started' | 'finished' | 'failed';

/** The latest import of each project's repository. */
export type ProjectImportsTable = {
  project_id: number;
  /** The user who started it. */
  user_id: number | null;
  /** Without user name and password. */
  url: string;
  /** Sealed JSON of user name and password; null: none, or the import has ended. */
  sealed_credentials: string | null;
  /** Total attempts; each attempt has a unique number. */
  attempts: Generated<number>;
  /** Attempts that do not count towards giving up: attempts of earlier imports, and attempts that an outage ended. */
  excused_attempts: Generated<number>;
  /** Why it failed, as a sentence. */
  error: string | null;
  created_at: number;
  updated_at: number;
};

/** Topics of the instance. Triggers count the projects that have them, by visibility. */
export type TopicsTable = {
  id: Id;
  name: string;
  /** Lower case, for comparison. */
  folded_name: string;
  title: string;
  description: Generated<string | null>;
  /** Same format as `users.avatar`. */
  avatar: Generated<string | null>;
  /** 1: an administrator created or changed it, so it remains without projects. */
  is_described: Generated<Flag>;
  public_projects_count: Generated<number>;
  internal_projects_count: Generated<number>;
  private_projects_count: Generated<number>;
  created_at: number;
  updated_at: number;
};

/** Topics of projects, in input order. */
export type ProjectTopicsTable = { project_id: number; position: number; topic_id: number };

/** Tokens that read the code, and the images, of a project or of the projects of a group. */
export type DeployTokensTable = {
  id: Id;
  project_id: number | null;
  group_id: number | null;
  name: string;
  /** Secret part of the token that a client sends. */
  username: string;
  /** SHA-256 of the token text, hexadecimal. */
  token_hash: string;
  /** JSON array of scope names. */
  scopes: string;
  expires_at: number | null;
  created_at: number;
  last_used_at: number | null;
  /** Address of that use; null: unknown. */
  last_used_ip: Generated<string | null>;
};

/** Notification levels of users for a project, a group, or (if neither is set) in general. */
export type NotificationSettingsTable = {
  id: Id;
  user_id: number;
  project_id: number | null;
  group_id: number | null;
  level: NotificationLevel;
  /** JSON: the events that the user enabled or disabled, for the level `custom`. */
  events: string;
  created_at: number;
  updated_at: number;
};

/** Exact totals of a project's stars, issues and merge requests, without deleted records. Maintained by triggers. */
export type ProjectCountersTable = {
  project_id: number;
  opened_issues: Generated<number>;
  closed_issues: Generated<number>;
  opened_confidential_issues: Generated<number>;
  closed_confidential_issues: Generated<number>;
  /** Rises with every change of an issue of the project; stamps cached totals. */
  issues_version: Generated<number>;
  opened_merge_requests: Generated<number>;
  closed_merge_requests: Generated<number>;
  merged_merge_requests: Generated<number>;
  merge_requests_version: Generated<number>;
  star_count: Generated<number>;
};

/** Users who starred a project. */
export type ProjectStarsTable = {
  project_id: number;
  user_id: number;
  created_at: number;
};

export type IidKind = 'issue' | 'merge_request' | 'milestone' | 'pipeline' | 'deployment';

/** Last iid taken; no row: none was taken. */
export type IidSequencesTable = {
  project_id: number;
  kind: IidKind;
  last: number;
};

/** Counts of records with a label in a project, without deleted records. Maintained by triggers; no row: zero. */
export type LabelCountsTable = {
  label_id: number;
  project_id: number;
  opened_issues: number;
  closed_issues: number;
  opened_confidential_issues: number;
  closed_confidential_issues: number;
  opened_merge_requests: number;
};

export type LabelsTable = {
  id: Id;
  project_id: number | null;
  group_id: number | null;
  title: string;
  color: string;
  description: string | null;
  priority: number | null;
  created_at: number;
  updated_at: number;
};

export type MilestonesTable = {
  id: Id;
  iid: number;
  project_id: number | null;
  group_id: number | null;
  title: string;
  description: string | null;
  state: 'active' | 'closed';
  start_date: string | null;
  due_date: string | null;
  created_at: number;
  updated_at: number;
};

export type SnippetsTable = {
  id: Id;
  /** null: a personal snippet. */
  project_id: number | null;
  author_id: number;
  title: string;
  /** The first file; the others are in `snippet_files`. */
  file_name: string;
  description: string | null;
  content: string;
  visibility: Visibility;
  /** User agent of the client that created it. */
  user_agent: string;
  ip_address: string;
  created_at: number;
  updated_at: number;
};

/** The files of a snippet after its first one. */
export type SnippetFilesTable = {
  id: Id;
  snippet_id: number;
  position: number;
  path: string;
  content: string;
};

/** Uploaded files that texts link to. The blob store contains their bytes, by digest. */
export type UploadsTable = {
  id: Id;
  project_id: number;
  user_id: number | null;
  /** 32 hexadecimal digits: part of the file's address. */
  secret: string;
  file_name: string;
  size: number;
  sha256: string;
  created_at: number;
};

export type DeployKeyProjectsTable = {
  project_id: number;
  key_id: number;
  can_push: Flag;
  created_at: number;
};

/** Projects, and groups with their descendants, whose jobs may access a project. */
export type JobTokenProjectsTable = {
  project_id: number;
  target_project_id: number;
  created_at: number;
};

export type JobTokenGroupsTable = {
  project_id: number;
  target_group_id: number;
  created_at: number;
};

/** Badges that a project or group shows; the addresses may contain placeholders. */
export type BadgesTable = {
  id: Id;
  project_id: number | null;
  group_id: number | null;
  name: string | null;
  link_url: string;
  image_url: string;
  created_at: number;
  updated_at: number;
};

export type ProjectsSchema = {
  badges: BadgesTable;
  projects: ProjectsTable;
  project_imports: ProjectImportsTable;
  topics: TopicsTable;
  deploy_tokens: DeployTokensTable;
  project_topics: ProjectTopicsTable;
  project_counters: ProjectCountersTable;
  project_stars: ProjectStarsTable;
  notification_settings: NotificationSettingsTable;
  iid_sequences: IidSequencesTable;
  label_counts: LabelCountsTable;
  labels: LabelsTable;
  milestones: MilestonesTable;
  snippets: SnippetsTable;
  snippet_files: SnippetFilesTable;
  uploads: UploadsTable;
  deploy_key_projects: DeployKeyProjectsTable;
  job_token_projects: JobTokenProjectsTable;
  job_token_groups: JobTokenGroupsTable;
};
