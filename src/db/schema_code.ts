/** The row types of the tables of repositories, releases and merge requests; conventions as in `schema.ts`. */
import type { Generated } from 'kysely';
import type { Flag } from './schema.ts';

type Id = Generated<number>;

/** What is being done to refs (`repository/move_refs.ts`): gone with the transaction that completes it. */
export type GitOperationsTable = {
  id: Id;
  project_id: number;
  user_id: number | null;
  /** Who completes it: `push`, `merge`... */
  kind: string;
  /** JSON array of RefUpdate. */
  updates: string;
  /** JSON object, for the one who completes it. */
  data: string;
  /** The process that does it: where it is gone, another one completes or drops it. */
  process: string;
  created_at: number;
};

/** Levels: 0 nobody, 30 developers, 40 masters. */
export type ProtectedBranchesTable = {
  id: Id;
  project_id: number;
  /** May have a `*` in it. */
  name: string;
  push_access_level: number;
  merge_access_level: number;
  allow_force_push: Generated<Flag>;
  created_at: number;
};

export type ProtectedTagsTable = {
  id: Id;
  project_id: number;
  name: string;
  create_access_level: number;
  created_at: number;
};

/** What other systems say about a commit. */
export type CommitStatusesTable = {
  id: Id;
  project_id: number;
  sha: string;
  ref: string;
  name: string;
  status: 'pending' | 'running' | 'success' | 'failed' | 'canceled' | 'skipped';
  target_url: string | null;
  description: string | null;
  /** Hundredths of a percent. */
  coverage: number | null;
  allow_failure: Generated<Flag>;
  author_id: number;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  /** In which it counts; null: in none. */
  pipeline_id: number | null;
  /** In its pipeline, another of its name has taken its place. */
  retried: Generated<Flag>;
};

export type CommitCommentsTable = {
  id: Id;
  project_id: number;
  sha: string;
  author_id: number;
  note: string;
  path: string | null;
  line: number | null;
  line_type: 'new' | 'old' | null;
  created_at: number;
  /** null: a comment of its own, whose discussion has an id that follows from its own. */
  discussion_id: string | null;
  /** JSON: where in the diff of the commit it stands. */
  position: string | null;
  /** null: never changed. */
  updated_at: number | null;
};

export type ReleasesTable = {
  id: Id;
  project_id: number;
  tag: string;
  name: string | null;
  description: string | null;
  /** Of its commit when it was made: it stays when the tag goes. */
  sha: string | null;
  author_id: number | null;
  created_at: number;
  released_at: number;
};

export type ReleaseMilestonesTable = { release_id: number; milestone_id: number };

export type ReleaseLinksTable = {
  id: Id;
  release_id: number;
  name: string;
  url: string;
  filepath: string | null;
  link_type: Generated<'other' | 'runbook' | 'image' | 'package'>;
};

/** What a project works with outside: an issue tracker. */
export type IntegrationsTable = {
  id: Id;
  project_id: number;
  slug: string;
  active: Flag;
  /** JSON object. */
  properties: string;
  created_at: number;
  updated_at: number;
};

export type MergeRequestsTable = {
  id: Id;
  /** The target project. */
  project_id: number;
  /** null: the fork is gone. */
  source_project_id: number | null;
  iid: number;
  title: string;
  description: string | null;
  state: 'opened' | 'closed' | 'merged' | 'locked';
  source_branch: string;
  target_branch: string;
  author_id: number;
  milestone_id: number | null;
  merge_status: 'unchecked' | 'can_be_merged' | 'cannot_be_merged';
  /** The heads that `merge_status` was found for. */
  checked_source_sha: string | null;
  checked_target_sha: string | null;
  /** The latest version. */
  diff_id: number | null;
  /** Its head. */
  head_sha: string | null;
  merge_commit_sha: string | null;
  squash_commit_sha: string | null;
  squash: Generated<Flag>;
  merge_when_pipeline_succeeds: Generated<Flag>;
  /** Who asked for the deferred merge. */
  merge_user_id: number | null;
  /** JSON object: what he asked for with it. */
  merge_params: Generated<string>;
  should_remove_source_branch: Flag | null;
  force_remove_source_branch: Generated<Flag>;
  rebase_in_progress: Generated<Flag>;
  merge_error: string | null;
  time_estimate: Generated<number>;
  total_time_spent: Generated<number>;
  user_notes_count: Generated<number>;
  upvotes: Generated<number>;
  downvotes: Generated<number>;
  merged_at: number | null;
  merged_by_id: number | null;
  closed_at: number | null;
  closed_by_id: number | null;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** Rises with every change of what lists show of it (triggers). */
  revision: Generated<number>;
};

/** Diff versions. */
export type MergeRequestDiffsTable = {
  id: Id;
  merge_request_id: number;
  state: 'collected' | 'empty' | 'overflow';
  head_commit_sha: string | null;
  base_commit_sha: string | null;
  start_commit_sha: string | null;
  /** Number of files; a `+` where there are more than are stored. */
  real_size: string | null;
  commits_count: number;
  created_at: number;
};

export type MergeRequestDiffTextsTable = {
  diff_id: number;
  /** JSON arrays. */
  commits: string;
  diffs: string;
};

export type MergeRequestCommitsTable = {
  diff_id: number;
  sha: string;
  /** 0: the newest. */
  position: number;
};

export type MergeRequestApprovalsTable = { merge_request_id: number; user_id: number; created_at: number };

/** What a reviewer has written and not yet shown anybody. */
export type DraftNotesTable = {
  id: Id;
  merge_request_id: number;
  author_id: number;
  note: string;
  /** Of the discussion that it answers; null: it begins one. */
  discussion_id: string | null;
  resolve_discussion: Generated<Flag>;
  /** JSON: where in the diff it is to stand. */
  position: string | null;
  created_at: number;
  updated_at: number;
};

export type MergeRequestSearchTable = {
  merge_request_id: number;
  title: string;
  description: string;
  indexed: Generated<Flag>;
};

/** Which merge requests close which issues when they are merged. */
export type MergeRequestsClosingIssuesTable = {
  merge_request_id: number;
  issue_id: number;
};

export type CodeSchema = {
  git_operations: GitOperationsTable;
  protected_branches: ProtectedBranchesTable;
  protected_tags: ProtectedTagsTable;
  commit_statuses: CommitStatusesTable;
  commit_comments: CommitCommentsTable;
  releases: ReleasesTable;
  release_links: ReleaseLinksTable;
  release_milestones: ReleaseMilestonesTable;
  integrations: IntegrationsTable;
  merge_requests: MergeRequestsTable;
  merge_request_diffs: MergeRequestDiffsTable;
  merge_request_diff_texts: MergeRequestDiffTextsTable;
  merge_request_commits: MergeRequestCommitsTable;
  merge_request_approvals: MergeRequestApprovalsTable;
  merge_request_search: MergeRequestSearchTable;
  draft_notes: DraftNotesTable;
  merge_requests_closing_issues: MergeRequestsClosingIssuesTable;
};
