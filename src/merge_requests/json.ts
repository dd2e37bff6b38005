import type { Static } from 'typebox';
import type { DatedSite } from '../access/call.ts';
import { array, bool, int, nullable, object, string, timestamp } from '../http/schema.ts';
import { taskCounts, taskCountsShape } from '../issuables/tasks.ts';
import { isWorkInProgress } from '../issuables/title_state.ts';
import { briefPipelineShape } from '../repository/pipeline_brief.ts';
import { singlePipelineShape } from '../repository/pipeline_single.ts';
import { milestoneJson, milestoneShape } from '../milestones/json.ts';
import { timeStats, timeStatsShape } from '../time_tracking/json.ts';
import { formatTime } from '../time.ts';
import { basicUser, basicUserShape } from '../users/json.ts';
import type { BasicUserRow } from '../users/json.ts';
import type { FullMergeRequest } from './rows.ts';

const user = basicUserShape;

const fields = {
  id: int,
  iid: int,
  project_id: int,
  title: string,
  description: string,
  state: string,
  created_at: timestamp,
  updated_at: timestamp,
  target_branch: string,
  source_branch: string,
  upvotes: int,
  downvotes: int,
  author: user,
  assignee: nullable(user),
  source_project_id: nullable(int),
  target_project_id: int,
  labels: array(string),
  work_in_progress: bool,
  milestone: nullable(milestoneShape),
  merge_when_pipeline_succeeds: bool,
  merge_status: string,
  sha: nullable(string),
  merge_commit_sha: nullable(string),
  user_notes_count: int,
  should_remove_source_branch: nullable(bool),
  force_remove_source_branch: bool,
  web_url: string,
  time_stats: timeStatsShape,
  // What today's clients read beside the API document's.
  assignees: array(user),
  reviewers: array(user),
  draft: bool,
  squash_commit_sha: nullable(string),
  merged_at: nullable(timestamp),
  merged_by: nullable(user),
  merge_user: nullable(user),
  closed_at: nullable(timestamp),
  closed_by: nullable(user),
  squash: bool,
  squash_on_merge: bool,
  prepared_at: nullable(timestamp),
  discussion_locked: nullable(bool),
  has_conflicts: bool,
  references: object({ short: string, relative: string, full: string }),
  diff_refs: nullable(
    object({ base_sha: nullable(string), head_sha: nullable(string), start_sha: nullable(string) }),
  ),
  changes_count: nullable(string),
  task_completion_status: taskCountsShape,
  rebase_in_progress: bool,
  merge_error: nullable(string),
  /** The last: of one request alone, `detail.ts` puts another in its place. */
  detailed_merge_status: string,
};

/** A merge request in a list. */
export const mergeRequestShape = object(fields);

const extras = {
  subscribed: bool,
  user: object({ can_merge: bool }),
  blocking_discussions_resolved: bool,
  head_pipeline: nullable(singlePipelineShape),
  pipeline: nullable(briefPipelineShape),
};

/** One merge request alone. */
export const singleMergeRequestShape = object({ ...fields, ...extras });

/** The fields of one alone, for those that add to it. */
export const singleMergeRequestFields = { ...fields, ...extras };

/** As the target of a todo. */
export const todoMergeRequestShape = object({ ...fields, subscribed: bool });

/** With `view=simple`. */
export const simpleMergeRequestShape = object({
  id: int,
  iid: int,
  project_id: int,
  title: string,
  description: string,
  state: string,
  created_at: timestamp,
  updated_at: timestamp,
  web_url: string,
});

export const mergeRequestUrl = (baseUrl: string, projectPath: string, iid: number): string =>
  `${baseUrl}/${projectPath}/merge_requests/${iid}`;

type Status = Pick<
  FullMergeRequest,
  'state' | 'title' | 'merge_status' | 'checked_source_sha' | 'checked_target_sha' | 'real_size'
>;

/** Both branches are there, and something is to be merged. */
const hasCommits = ({ checked_source_sha, checked_target_sha, real_size }: Status): boolean =>
  checked_source_sha !== null && checked_target_sha !== null && real_size !== null;

const hasConflicts = (row: Status): boolean =>
  row.state === 'opened' && row.merge_status === 'cannot_be_merged' && hasCommits(row);

/** Why it cannot be merged, as far as its own row tells; `mergeable` where it can. */
const detailedStatus = (row: Status): string => {
  if (row.state !== 'opened') return 'not_open';
  if (isWorkInProgress(row.title)) return 'draft_status';
  if (row.merge_status === 'unchecked') return 'unchecked';
  if (row.merge_status === 'can_be_merged') return 'mergeable';
  return hasCommits(row) ? 'conflict' : 'commits_status';
};

const userOrNull = (one: BasicUserRow | null, site: DatedSite) =>
  one === null ? null : basicUser(one, site);
const timeOrNull = (time: number | null) => (time === null ? null : formatTime(time));

const diffRefs = ({ head_sha, base_sha, start_sha }: FullMergeRequest) =>
  head_sha === null ? null : { base_sha, head_sha, start_sha };

/** The merge requests of this project by their numbers: `!7`. */
const referencesOf = ({ iid, project_path }: FullMergeRequest) => ({
  short: `!${iid}`,
  relative: `!${iid}`,
  full: `${project_path}!${iid}`,
});

const basics = (row: FullMergeRequest) => ({
  id: row.id,
  iid: row.iid,
  project_id: row.project_id,
  title: row.title,
  // The contract has a text here, never null.
  description: row.description ?? '',
  state: row.state,
  created_at: formatTime(row.created_at),
  updated_at: formatTime(row.updated_at),
});

export const simpleMergeRequestJson = (row: FullMergeRequest, { baseUrl }: DatedSite) => ({
  ...basics(row),
  web_url: mergeRequestUrl(baseUrl, row.project_path, row.iid),
});

const isSquashedOnMerge = ({ squash, project_squash_option: option }: FullMergeRequest): boolean =>
  option === 'always' || (option !== 'never' && squash === 1);

/** What is said about merging it. */
const mergeFields = (row: FullMergeRequest, site: DatedSite) => ({
  merge_when_pipeline_succeeds: row.merge_when_pipeline_succeeds === 1,
  merge_status: row.merge_status,
  detailed_merge_status: detailedStatus(row),
  sha: row.head_sha,
  merge_commit_sha: row.merge_commit_sha,
  squash_commit_sha: row.squash_commit_sha,
  should_remove_source_branch:
    row.should_remove_source_branch === null ? null : row.should_remove_source_branch === 1,
  force_remove_source_branch: row.force_remove_source_branch === 1,
  merged_at: timeOrNull(row.merged_at),
  merged_by: userOrNull(row.merged_by, site),
  merge_user: userOrNull(row.merged_by ?? row.merge_user, site),
  squash: row.squash === 1,
  squash_on_merge: isSquashedOnMerge(row),
  has_conflicts: hasConflicts(row),
  rebase_in_progress: row.rebase_in_progress === 1,
  merge_error: row.merge_error,
});

export const mergeRequestJson = (row: FullMergeRequest, site: DatedSite) => {
  const assignees = row.assignees.map((one) => basicUser(one, site));
  const isDraft = isWorkInProgress(row.title);
  return {
    ...basics(row),
    target_branch: row.target_branch,
    source_branch: row.source_branch,
    upvotes: row.upvotes,
    downvotes: row.downvotes,
    author: basicUser(row.author, site),
    assignee: assignees[0] ?? null,
    assignees,
    reviewers: row.reviewers.map((one) => basicUser(one, site)),
    source_project_id: row.source_project_id,
    target_project_id: row.project_id,
    labels: row.labels,
    work_in_progress: isDraft,
    draft: isDraft,
    milestone: row.milestone === null ? null : milestoneJson(row.milestone, site),
    ...mergeFields(row, site),
    user_notes_count: row.user_notes_count,
    web_url: mergeRequestUrl(site.baseUrl, row.project_path, row.iid),
    time_stats: timeStats(row),
    // It is prepared in the transaction that creates it.
    prepared_at: formatTime(row.created_at),
    closed_at: timeOrNull(row.closed_at),
    closed_by: userOrNull(row.closed_by, site),
    discussion_locked: null,
    references: referencesOf(row),
    diff_refs: diffRefs(row),
    changes_count: row.real_size,
    task_completion_status: taskCounts(row.description),
  };
};

/** What one merge request alone has beside what it has in a list. */
export type Extras = {
  subscribed: boolean;
  user: { can_merge: boolean };
  blocking_discussions_resolved: boolean;
  head_pipeline: Static<typeof singlePipelineShape> | null;
  /** The same, in brief. */
  pipeline: Static<typeof briefPipelineShape> | null;
};

export const todoMergeRequestJson = (row: FullMergeRequest, site: DatedSite, subscribed: boolean) => ({
  ...mergeRequestJson(row, site),
  subscribed,
});
