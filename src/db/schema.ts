/**
 * The row type of every table. Times are milliseconds since 1970 (UTC), dates `YYYY-MM-DD`, flags 0 or 1,
 * `target_type`/`target_id` name the record that a shared row (note, todo, subscription...) belongs to.
 */
import type { Generated } from 'kysely';
import type { AccessSchema } from './schema_access.ts';
import type { CiSchema } from './schema_ci.ts';
import type { CodeSchema } from './schema_code.ts';

export type Flag = 0 | 1;
export type TargetType = 'Issue' | 'MergeRequest';
export type Visibility = 'private' | 'internal' | 'public';
export type FeatureLevel = 'disabled' | 'private' | 'enabled';
export type ProjectCreationLevel = 'noone' | 'owner' | 'maintainer' | 'developer' | 'administrator';
export type SharedRunnersSetting = 'enabled' | 'disabled_and_overridable' | 'disabled_and_unoverridable';
export type SourceType = 'Namespace' | 'Project';

type Id = Generated<number>;

export type UsersTable = {
  id: Id;
  username: string;
  name: string;
  email: string;
  state: 'active' | 'blocked';
  admin: Flag;
  external: Flag;
  password_hash: string | null;
  can_create_group: Flag;
  /** Personal projects that they may have. New users get the instance's default. */
  projects_limit: number;
  bio: string | null;
  location: string | null;
  skype: string | null;
  linkedin: string | null;
  twitter: string | null;
  website_url: string | null;
  organization: string | null;
  public_email: string | null;
  note: string | null;
  /** Name and user name, folded by `searchText`: what a search looks in. */
  search_text: string;
  /** The user that stands for deleted ones. */
  ghost: Generated<Flag>;
  two_factor_enabled: Generated<Flag>;
  /** The user typed his address himself, and nobody has looked whether it is his. */
  email_unchecked: Generated<Flag>;
  last_sign_in_at: number | null;
  last_activity_on: string | null;
  created_at: number;
  updated_at: number;
};

export type NamespacesTable = {
  id: Id;
  kind: 'user' | 'group';
  parent_id: number | null;
  /** Of a personal namespace only. */
  owner_id: number | null;
  path: string;
  /** `parent/child`, kept in step with `routes`. */
  full_path: string;
  name: string;
  description: string;
  visibility: Visibility;
  lfs_enabled: Generated<Flag>;
  request_access_enabled: Generated<Flag>;
  /** Who may create projects in the group. */
  project_creation_level: Generated<ProjectCreationLevel>;
  subgroup_creation_level: Generated<'owner' | 'maintainer'>;
  /** Members need a second factor, `two_factor_grace_period` hours after their next visit. */
  require_two_factor_authentication: Generated<Flag>;
  two_factor_grace_period: Generated<number>;
  /** Protection of the first branch of new projects, as in the instance's settings; null: the instance's. */
  default_branch_protection: Generated<number | null>;
  /** First branch of a new project that begins with a README; null: the instance's. */
  default_branch: Generated<string | null>;
  /** No project of the group is shared with another group. */
  share_with_group_lock: Generated<Flag>;
  /** Projects of the group get no members of their own. */
  membership_lock: Generated<Flag>;
  emails_disabled: Generated<Flag>;
  mentions_disabled: Generated<Flag>;
  auto_devops_enabled: Generated<Flag | null>;
  shared_runners_setting: Generated<SharedRunnersSetting>;
  /** SHA-256 of the token that registers runners. */
  runners_token_hash: Generated<string | null>;
  created_at: number;
  updated_at: number;
  /** Not null: gone for everybody, with all below it; the queue removes the rows. */
  deleted_at: number | null;
};

/** Projects and namespaces share one space of paths, compared without case. */
export type RoutesTable = {
  /** Lower case. */
  path: string;
  source_type: SourceType;
  source_id: number;
};

/** Paths of before, which lead to who had them until another takes them. */
export type RedirectRoutesTable = RoutesTable;

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
  request_access_enabled: Generated<Flag>;
  only_allow_merge_if_pipeline_succeeds: Generated<Flag>;
  only_allow_merge_if_all_discussions_are_resolved: Generated<Flag>;
  forked_from_project_id: number | null;
  repository_storage: Generated<string>;
  /** Below the storage's root; null: follows from the id, as of all projects once. */
  repository_path: Generated<string | null>;
  /** 1: refs were written to the repository, which then has to be there. */
  repository_written: Generated<Flag>;
  /** How merge requests are merged: with a merge commit, the same after a rebase, or by moving the branch alone. */
  merge_method: Generated<'merge' | 'rebase_merge' | 'ff'>;
  squash_option: Generated<'never' | 'always' | 'default_on' | 'default_off'>;
  remove_source_branch_after_merge: Generated<Flag>;
  /** The project that this and its other forks come of; null: none, or itself. */
  fork_network_id: Generated<number | null>;
  /** Where the pipelines are written; null: `.gitlab-ci.yml`. */
  ci_config_path: Generated<string | null>;
  /** Seconds that a job may run. */
  build_timeout: Generated<number>;
  /** Megabytes of one file that a job leaves; null: as the instance says. */
  max_artifacts_size: Generated<number | null>;
  auto_cancel_pending_pipelines: Generated<'enabled' | 'disabled'>;
  ci_default_git_depth: Generated<number>;
  keep_latest_artifact: Generated<Flag>;
  /** Jobs of other projects see it only where they stand in its list. */
  job_token_list_enabled: Generated<Flag>;
  /** SHA-256 of the token that registers runners. */
  runners_token_hash: Generated<string | null>;
  created_at: number;
  updated_at: number;
  last_activity_at: number;
  deleted_at: number | null;
};

/** Topics of projects, in the order in which they were given. */
export type ProjectTopicsTable = {
  project_id: number;
  position: number;
  name: string;
  /** In lower case: topics are compared so. */
  folded_name: string;
};

/** One row a project: the exact totals of its issues and merge requests, without deleted ones. Triggers count. */
export type ProjectCountersTable = {
  project_id: number;
  opened_issues: Generated<number>;
  closed_issues: Generated<number>;
  opened_confidential_issues: Generated<number>;
  closed_confidential_issues: Generated<number>;
  /** Rises with every change of any issue of the project: cached totals are stamped with it. */
  issues_version: Generated<number>;
  opened_merge_requests: Generated<number>;
  closed_merge_requests: Generated<number>;
  merged_merge_requests: Generated<number>;
  merge_requests_version: Generated<number>;
};

export type IidKind = 'issue' | 'merge_request' | 'milestone' | 'pipeline' | 'deployment';

/** The last iid that was taken; no row: none was. */
export type IidSequencesTable = {
  project_id: number;
  kind: IidKind;
  last: number;
};

/** What carries a label in a project, deleted records not counted. Triggers count; no row: nothing does. */
export type LabelCountsTable = {
  label_id: number;
  project_id: number;
  opened_issues: number;
  closed_issues: number;
  opened_confidential_issues: number;
  closed_confidential_issues: number;
  opened_merge_requests: number;
};

export type MembersTable = {
  id: Id;
  user_id: number;
  source_type: SourceType;
  source_id: number;
  access_level: number;
  expires_at: string | null;
  created_by_id: number | null;
  created_at: number;
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

/** `target_created_at` repeats the target's `created_at`, which never changes: it orders filtered lists. */
export type LabelLinksTable = {
  target_type: TargetType;
  target_id: number;
  label_id: number;
  target_created_at: number;
};

export type AssigneesTable = {
  target_type: TargetType;
  target_id: number;
  user_id: number;
  position: number;
  target_created_at: number;
};

/** Users who are asked to review a merge request. */
export type ReviewersTable = AssigneesTable & {
  state: 'unreviewed' | 'reviewed' | 'approved' | 'unapproved';
  created_at: number;
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

export type IssuesTable = {
  id: Id;
  project_id: number;
  iid: number;
  title: string;
  description: string | null;
  state: 'opened' | 'closed';
  author_id: number;
  milestone_id: number | null;
  confidential: Flag;
  due_date: string | null;
  time_estimate: Generated<number>;
  total_time_spent: Generated<number>;
  user_notes_count: Generated<number>;
  upvotes: Generated<number>;
  downvotes: Generated<number>;
  moved_to_id: number | null;
  closed_at: number | null;
  closed_by_id: number | null;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** Rises with every change of what lists show of the issue: its row, its labels, its assignees (triggers). */
  revision: Generated<number>;
};

/** Text to search, folded by `foldCase`. `indexed` 0: not in the engine's trigram index yet. */
export type IssueSearchTable = {
  issue_id: number;
  title: string;
  description: string;
  indexed: Generated<Flag>;
};

export type NotesTable = {
  id: Id;
  project_id: number;
  target_type: TargetType;
  target_id: number;
  author_id: number;
  body: string;
  system: Flag;
  created_at: number;
  updated_at: number;
  /** null: a comment of its own. */
  discussion_id: Generated<string | null>;
  /** null: a plain comment. */
  type: Generated<'DiscussionNote' | 'DiffNote' | null>;
  /** JSON: where in the diff it was written, and where that line is now. */
  original_position: Generated<string | null>;
  position: Generated<string | null>;
  resolvable: Generated<Flag>;
  resolved_at: Generated<number | null>;
  resolved_by_id: Generated<number | null>;
  /** Of a note that says what mentions its target; null: it is none. */
  mentioned_by_type: Generated<TargetType | 'Commit' | null>;
  mentioned_by_project_id: Generated<number | null>;
  /** Of an issue or merge request. */
  mentioned_by_id: Generated<number | null>;
  mentioned_by_sha: Generated<string | null>;
};

/** Who is named in a text of a target. `note_id` 0: its title or description. */
export type MentionsTable = {
  target_type: TargetType;
  target_id: number;
  note_id: number;
  user_id: number;
};

export type AwardEmojiTable = {
  id: Id;
  name: string;
  user_id: number;
  target_type: TargetType | 'Note';
  target_id: number;
  created_at: number;
  updated_at: number;
};

export type SubscriptionsTable = {
  user_id: number;
  target_type: TargetType | 'Label';
  target_id: number;
  subscribed: Flag;
  created_at: number;
  updated_at: number;
};

export type TodosTable = {
  id: Id;
  user_id: number;
  author_id: number;
  project_id: number;
  target_type: TargetType;
  target_id: number;
  action:
    | 'assigned'
    | 'mentioned'
    | 'build_failed'
    | 'marked'
    | 'unmergeable'
    | 'directly_addressed'
    | 'review_requested';
  /** The comment that it is of, whose text is `body`; null: of the target itself. */
  note_id: number | null;
  body: string;
  state: 'pending' | 'done';
  created_at: number;
  updated_at: number;
};

export type TimelogsTable = {
  id: Id;
  target_type: TargetType;
  target_id: number;
  user_id: number;
  /** Seconds; negative when subtracted. */
  time_spent: number;
  created_at: number;
};

export type UserAgentDetailsTable = {
  target_type: TargetType;
  target_id: number;
  user_agent: string;
  ip_address: string;
};

/** The ordered change log: one row a change, written in the transaction of the change. */
export type EventsTable = {
  id: Id;
  created_at: number;
  actor_id: number | null;
  /** The administrator behind a call under sudo. */
  sudo_by_id: number | null;
  project_id: number | null;
  /** `issue.created`, `member.removed`... */
  kind: string;
  target_type: string;
  target_id: number;
  /** JSON object: what changed, with its values before and after. */
  data: string;
};

export type WorkTable = {
  id: Id;
  name: string;
  /** JSON object. */
  payload: string;
  /** At most one waiting row a key. */
  unique_key: string | null;
  /** At most one locked row a turn. */
  turn: string | null;
  run_at: number;
  attempts: Generated<number>;
  /** Of these, those that ended by an outage or before a retry by hand. */
  excused_attempts: Generated<number>;
  locked_until: number | null;
  /** The name of the process that holds it (`db/process.ts`). */
  locked_by: string | null;
  last_error: string | null;
  created_at: number;
};

/** A row each setting of the instance that was ever changed (`settings/fields.ts`). */
export type SettingsTable = {
  name: string;
  /** JSON. */
  value: string;
  updated_at: number;
  updated_by_id: number | null;
};

/** What happened that concerns safety: rows are added, never changed. */
export type AuditEventsTable = {
  id: Id;
  created_at: number;
  /** `session.created`, `settings.changed`... */
  kind: string;
  /** Who did it; null: nobody known. */
  actor_id: number | null;
  /** The administrator behind a call under sudo. */
  sudo_by_id: number | null;
  target_type: string | null;
  target_id: number | null;
  ip: string;
  user_agent: string;
  /** JSON object: what changed, with values before and after; never a secret. */
  details: string;
};

/** `names_version` rises with every change of a name that issues show: a user's, a label's... (triggers). */
export type InstanceTable = {
  name: string;
  value: string;
};

export type SnippetsTable = {
  id: Id;
  /** null: personal. */
  project_id: number | null;
  author_id: number;
  title: string;
  file_name: string;
  description: string | null;
  content: string;
  visibility: Visibility;
  /** With what it was created. */
  user_agent: string;
  ip_address: string;
  created_at: number;
  updated_at: number;
};

/** Files that texts link to; their bytes are in the blob store, by their digest. */
export type UploadsTable = {
  id: Id;
  project_id: number;
  user_id: number | null;
  /** 32 hexadecimal digits: part of its address. */
  secret: string;
  file_name: string;
  size: number;
  sha256: string;
  created_at: number;
};

export type Schema = AccessSchema &
  CiSchema &
  CodeSchema & {
    users: UsersTable;
    namespaces: NamespacesTable;
    routes: RoutesTable;
    redirect_routes: RedirectRoutesTable;
    projects: ProjectsTable;
    project_counters: ProjectCountersTable;
    project_topics: ProjectTopicsTable;
    iid_sequences: IidSequencesTable;
    label_counts: LabelCountsTable;
    members: MembersTable;
    labels: LabelsTable;
    label_links: LabelLinksTable;
    assignees: AssigneesTable;
    reviewers: ReviewersTable;
    milestones: MilestonesTable;
    issues: IssuesTable;
    issue_search: IssueSearchTable;
    notes: NotesTable;
    mentions: MentionsTable;
    award_emoji: AwardEmojiTable;
    subscriptions: SubscriptionsTable;
    todos: TodosTable;
    timelogs: TimelogsTable;
    user_agent_details: UserAgentDetailsTable;
    events: EventsTable;
    work: WorkTable;
    instance: InstanceTable;
    settings: SettingsTable;
    audit_events: AuditEventsTable;
    snippets: SnippetsTable;
    uploads: UploadsTable;
  };
