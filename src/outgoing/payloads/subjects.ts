/**
 * The attributes of issues, merge requests and snippets, standalone and with their comments. Pure, except for commits.
 */
import { issueUrl } from '../../planning/issues/web_url.ts';
import { isWorkInProgress } from '../../planning/issuables/text/draft_title.ts';
import { mergeRequestUrl } from '../../review/merge_requests/web_url.ts';
import type { IssuesTable } from '../../platform/db/schema/planning.ts';
import type { MergeRequestsTable } from '../../platform/db/schema/review.ts';
import { formatDuration } from '../../platform/duration.ts';
import { formatTime, formatTimeOrNull } from '../../platform/time.ts';
import type { IssueFacts, MergeRequestFacts, ProjectFacts, Records } from '../changes/snapshots/snapshot.ts';
import { labelJson, projectJson, visibilityLevels, getProjectUrl } from './shared_payload_parts.ts';
import { commitOrNull } from './commits.ts';
import type { Context } from './context.ts';

const issueStates = { opened: 1, closed: 2 } as const;
const mergeRequestStates = { opened: 1, closed: 2, merged: 3, locked: 4 } as const;

const formatTimes = (one: Pick<IssueFacts, 'time_estimate' | 'total_time_spent'>) => ({
  time_estimate: one.time_estimate,
  total_time_spent: one.total_time_spent,
  human_time_estimate: formatDuration(one.time_estimate),
  human_total_time_spent: formatDuration(one.total_time_spent),
});

/** Every column of `Table`, except those that the attributes do not have under their own names. */
type AttributesOf<Table, Unsent extends keyof Table> = Record<Exclude<keyof Table, Unsent>, unknown> & {
  [name: string]: unknown;
};

type UnsentOfIssue =
  | 'closed_by_id'
  | 'deleted_at'
  | 'downvotes'
  | 'last_edited_at'
  | 'last_edited_by_id'
  | 'relative_position'
  | 'revision'
  | 'upvotes'
  | 'user_notes_count';

type UnsentOfMergeRequest =
  | 'checked_source_sha'
  | 'checked_target_sha'
  | 'closed_at'
  | 'closed_by_id'
  | 'deleted_at'
  | 'diff_id'
  | 'discussion_locked'
  | 'downvotes'
  // In `merge_params`.
  | 'force_remove_source_branch'
  // As the id of `last_commit`.
  | 'head_sha'
  | 'last_edited_at'
  | 'last_edited_by_id'
  | 'merged_at'
  | 'merged_by_id'
  // As `target_project_id`.
  | 'project_id'
  | 'rebase_in_progress'
  | 'revision'
  | 'should_remove_source_branch'
  | 'squash'
  | 'upvotes'
  | 'user_notes_count';

export const issueAttributes = ({ site }: Context, issue: IssueFacts, project: ProjectFacts) =>
  ({
    id: issue.id,
    iid: issue.iid,
    project_id: issue.project_id,
    title: issue.title,
    description: issue.description,
    state: issue.state,
    state_id: issueStates[issue.state],
    confidential: issue.confidential === 1,
    discussion_locked: issue.discussion_locked === 1,
    author_id: issue.author_id,
    assignee_id: issue.assignee_ids[0] ?? null,
    assignee_ids: issue.assignee_ids,
    milestone_id: issue.milestone_id,
    moved_to_id: issue.moved_to_id,
    labels: issue.labels.map(labelJson),
    due_date: issue.due_date,
    created_at: formatTime(issue.created_at),
    updated_at: formatTime(issue.updated_at),
    closed_at: formatTimeOrNull(issue.closed_at),
    url: issueUrl(site.baseUrl, project.full_path, issue.iid),
    type: 'Issue',
    ...formatTimes(issue),
  }) satisfies AttributesOf<IssuesTable, UnsentOfIssue>;

const getBranches = async (context: Context, request: MergeRequestFacts, target: ProjectFacts) => ({
  source_branch: request.source_branch,
  target_branch: request.target_branch,
  source_project_id: request.source_project_id,
  target_project_id: request.project_id,
  source: request.source === null ? null : projectJson(context, request.source),
  target: projectJson(context, target),
  // The head is fetched into the target project.
  last_commit: await commitOrNull(context, target, request.head_sha),
});

const getMergeState = (request: MergeRequestFacts) => ({
  merge_status: request.merge_status,
  detailed_merge_status: request.detailed_merge_status ?? 'unchecked',
  merge_commit_sha: request.merge_commit_sha,
  squash_commit_sha: request.squash_commit_sha,
  merge_error: request.merge_error,
  merge_when_pipeline_succeeds: request.merge_when_pipeline_succeeds === 1,
  merge_user_id: request.merge_user_id,
  merge_params: {
    force_remove_source_branch: request.force_remove_source_branch === 1 ? '1' : '0',
  },
  head_pipeline_id: request.head_pipeline_id,
  blocking_discussions_resolved: request.blocking_discussions_resolved,
  first_contribution: false,
});

export const mergeRequestAttributes = async (
  context: Context,
  request: MergeRequestFacts,
  target: ProjectFacts,
) =>
  ({
    id: request.id,
    iid: request.iid,
    title: request.title,
    description: request.description,
    state: request.state,
    state_id: mergeRequestStates[request.state],
    ...(await getBranches(context, request, target)),
    ...getMergeState(request),
    draft: isWorkInProgress(request.title),
    work_in_progress: isWorkInProgress(request.title),
    author_id: request.author_id,
    assignee_id: request.assignee_ids[0] ?? null,
    assignee_ids: request.assignee_ids,
    reviewer_ids: request.reviewers.map(({ user_id }) => user_id),
    milestone_id: request.milestone_id,
    labels: request.labels.map(labelJson),
    url: mergeRequestUrl(context.site.baseUrl, target.full_path, request.iid),
    created_at: formatTime(request.created_at),
    updated_at: formatTime(request.updated_at),
    ...formatTimes(request),
  }) satisfies AttributesOf<MergeRequestsTable, UnsentOfMergeRequest>;

export const snippetAttributes = (
  context: Context,
  snippet: NonNullable<Records['snippet']>,
  project: ProjectFacts,
) => ({
  id: snippet.id,
  title: snippet.title,
  description: snippet.description,
  content: snippet.content,
  author_id: snippet.author_id,
  project_id: snippet.project_id,
  created_at: formatTime(snippet.created_at),
  updated_at: formatTime(snippet.updated_at),
  file_name: snippet.file_name,
  type: 'ProjectSnippet',
  visibility_level: visibilityLevels[snippet.visibility],
  url: `${getProjectUrl(context, project)}/snippets/${snippet.id}`,
});
