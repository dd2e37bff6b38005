/** Row types of the tables of merge requests; conventions as in `database.ts`. */
import type { Generated } from 'kysely';
import type { AssigneesTable } from './planning.ts';
import type { Flag, Id } from './column_types.ts';

/** Reviewers of merge requests. */
export type ReviewersTable = AssigneesTable & {
  state: 'unreviewed' | 'reviewed' | 'requested_changes' | 'approved' | 'unapproved';
  created_at: number;
};

export type MergeRequestsTable = {
  id: Id;
  /** Target project. */
  project_id: number;
  /** null if the fork was deleted. */
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
  /** Head commits for which `merge_status` was computed. */
  checked_source_sha: string | null;
  checked_target_sha: string | null;
  /** Latest diff version. */
  diff_id: number | null;
  /** Head commit of the source branch. */
  head_sha: string | null;
  merge_commit_sha: string | null;
  squash_commit_sha: string | null;
  squash: Generated<Flag>;
  merge_when_pipeline_succeeds: Generated<Flag>;
  /** User who set the merge request to be merged later. */
  merge_user_id: number | null;
  /** JSON object: options of the merge. */
  merge_params: Generated<string>;
  should_remove_source_branch: Flag | null;
  force_remove_source_branch: Generated<Flag>;
  rebase_in_progress: Generated<Flag>;
  merge_error: string | null;
  /** Only project members may comment. null: never locked. */
  discussion_locked: Generated<Flag | null>;
  time_estimate: Generated<number>;
  total_time_spent: Generated<number>;
  user_notes_count: Generated<number>;
  upvotes: Generated<number>;
  downvotes: Generated<number>;
  merged_at: number | null;
  merged_by_id: number | null;
  closed_at: number | null;
  closed_by_id: number | null;
  /** The last edit of the description; null: none. The editor may be deleted. */
  last_edited_at: Generated<number | null>;
  last_edited_by_id: Generated<number | null>;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** Version of what lists show of the merge request. Raised by triggers. */
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
  /** Number of files, followed by `+` if more exist than are stored. */
  real_size: string | null;
  commits_count: number;
  /** User who pushed it; null if unknown. */
  pushed_by_id: number | null;
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
  /** 0: the newest commit. */
  position: number;
};

export type MergeRequestApprovalsTable = { merge_request_id: number; user_id: number; created_at: number };

/** The last review that each user submitted: an approval, a request for changes, or comments. */
export type MergeRequestReviewsTable = {
  merge_request_id: number;
  user_id: number;
  /** The head that they reviewed. */
  head_sha: string;
  created_at: number;
};

/** Files that users have viewed, with the content they saw. */
export type MergeRequestViewedFilesTable = {
  merge_request_id: number;
  user_id: number;
  /** SHA-1 of the path. */
  path_digest: string;
  blob_id: string;
  created_at: number;
};

/** Suggestions of comments that were applied. */
export type AppliedSuggestionsTable = {
  note_id: number;
  /** Which suggestion of the comment, from 0. */
  position: number;
  commit_sha: string;
  created_at: number;
};

/** Unpublished comments of reviewers. */
export type DraftNotesTable = {
  id: Id;
  merge_request_id: number;
  author_id: number;
  note: string;
  /** Discussion that it replies to; null: it starts one. */
  discussion_id: string | null;
  resolve_discussion: Generated<Flag>;
  /** JSON: position in the diff. */
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

/** Issues that a merge request closes when it is merged. */
export type MergeRequestsClosingIssuesTable = {
  merge_request_id: number;
  issue_id: number;
};

export type ReviewSchema = {
  reviewers: ReviewersTable;
  merge_requests: MergeRequestsTable;
  merge_request_diffs: MergeRequestDiffsTable;
  merge_request_diff_texts: MergeRequestDiffTextsTable;
  merge_request_commits: MergeRequestCommitsTable;
  merge_request_approvals: MergeRequestApprovalsTable;
  merge_request_reviews: MergeRequestReviewsTable;
  merge_request_viewed_files: MergeRequestViewedFilesTable;
  applied_suggestions: AppliedSuggestionsTable;
  draft_notes: DraftNotesTable;
  merge_request_search: MergeRequestSearchTable;
  merge_requests_closing_issues: MergeRequestsClosingIssuesTable;
};
