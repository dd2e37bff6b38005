/**
 * Defines every column of a merge request and every field of its JSON, in the order of the JSON. To add a column, add
 * an entry with its JSON, the parameter and role that set it, and the system note of a change.
 */
import type { DatedSite } from '../../core/access/site.ts';
import { type Flag, toFlag } from '../../platform/db/schema/column_types.ts';
import {
  array,
  bool,
  boolean,
  int,
  nullable,
  object,
  optional,
  string,
  timestamp,
} from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { type BasicUserRow, basicUser, basicUserShape } from '../../identity/users/json.ts';
import {
  type FieldsOf,
  asFlag,
  asIs,
  asTime,
  derived,
  orNull,
  setBy,
} from '../../planning/issuables/fields.ts';
import { editable, edits } from '../../planning/issuables/params.ts';
import { isWorkInProgress } from '../../planning/issuables/text/draft_title.ts';
import {
  descriptionText,
  lockText,
  mergeRequestTitleText,
  workInProgressText,
} from '../../planning/issuables/text/system_note_text.ts';
import { taskCounts, taskCountsShape } from '../../planning/issuables/text/tasks.ts';
import { timeStats, timeStatsShape } from '../../planning/time_tracking/json.ts';
import { milestoneJson, milestoneShape } from '../../projects/milestones/json.ts';
import type { FullMergeRequest, MergeRequestRow } from './rows.ts';
import { mergeRequestUrl } from './web_url.ts';

type Status = Pick<
  FullMergeRequest,
  'state' | 'title' | 'merge_status' | 'checked_source_sha' | 'checked_target_sha' | 'real_size'
>;

/** Returns whether both branches exist and differ. */
const hasCommits = ({ checked_source_sha, checked_target_sha, real_size }: Status): boolean =>
  checked_source_sha !== null && checked_target_sha !== null && real_size !== null;

const hasConflicts = (row: Status): boolean =>
  row.state === 'opened' && row.merge_status === 'cannot_be_merged' && hasCommits(row);

/** Returns `mergeable`, or the reason in its row why the request cannot be merged. */
export const detailedStatus = (row: Status): string => {
  if (row.state !== 'opened') return 'not_open';
  if (isWorkInProgress(row.title)) return 'draft_status';
  if (row.merge_status === 'unchecked') return 'unchecked';
  if (row.merge_status === 'can_be_merged') return 'mergeable';
  return hasCommits(row) ? 'conflict' : 'commits_status';
};

const userOrNull = (one: BasicUserRow | null, site: DatedSite) =>
  one === null ? null : basicUser(one, site);

const diffRefs = ({ head_sha, base_sha, start_sha }: FullMergeRequest) =>
  head_sha === null ? null : { base_sha, head_sha, start_sha };

/** Formats references in API syntax: `!7`. */
const formatReferences = ({ iid, project_path }: FullMergeRequest) => ({
  short: `!${iid}`,
  relative: `!${iid}`,
  full: `${project_path}!${iid}`,
});

const isSquashedOnMerge = ({ squash, project_squash_option: option }: FullMergeRequest): boolean =>
  option === 'always' || (option !== 'never' && squash === 1);

const userShape = nullable(basicUserShape);
const isDraft = ({ title }: FullMergeRequest): boolean => isWorkInProgress(title);

/** A column that the JSON does not include under its own name. */
const internal = { json: null } as const;

export const mergeRequestFields = {
  id: { json: asIs(int) },
  iid: { json: asIs(int) },
  project_id: { json: asIs(int) },
  title: {
    json: asIs(string),
    set: setBy(edits.title, {
      toColumn: (title) => title,
      note: (before: string, after: string) => [
        mergeRequestTitleText(before, after),
        workInProgressText(before, after),
      ],
    }),
  },
  description: {
    // The contract requires a string, never null.
    json: { shape: string, toJson: (description: string | null) => description ?? '' },
    set: setBy(editable.description, {
      toColumn: (description) => description,
      initial: null,
      note: (before: string | null, after: string | null) => [descriptionText(before, after)],
    }),
  },
  state: { json: asIs(string) },
  created_at: { json: asTime },
  updated_at: { json: asTime },
  target_branch: { json: asIs(string) },
  source_branch: { json: asIs(string) },
  upvotes: { json: asIs(int) },
  downvotes: { json: asIs(int) },
  author: derived(basicUserShape, ({ author }: FullMergeRequest, site) => basicUser(author, site)),
  assignee: derived(userShape, ({ assignees: [first] }: FullMergeRequest, site) =>
    userOrNull(first ?? null, site),
  ),
  source_project_id: { json: asIs(nullable(int)) },
  target_project_id: derived(int, ({ project_id }: FullMergeRequest) => project_id),
  labels: derived(array(string), ({ labels }: FullMergeRequest) => labels),
  work_in_progress: derived(bool, isDraft),
  milestone: derived(nullable(milestoneShape), ({ milestone }: FullMergeRequest, site) =>
    milestone === null ? null : milestoneJson(milestone, site),
  ),
  merge_when_pipeline_succeeds: { json: asFlag },
  merge_status: { json: asIs(string) },
  sha: derived(nullable(string), ({ head_sha }: FullMergeRequest) => head_sha),
  merge_commit_sha: { json: asIs(nullable(string)) },
  user_notes_count: { json: asIs(int) },
  should_remove_source_branch: { json: orNull(asFlag) },
  force_remove_source_branch: {
    json: asFlag,
    set: setBy(optional(boolean({ description: 'remove the source branch after the merge' })), {
      name: 'remove_source_branch',
      toColumn: toFlag,
      initial: 0,
    }),
  },
  web_url: derived(string, ({ project_path, iid }: FullMergeRequest, { baseUrl }) =>
    mergeRequestUrl(baseUrl, project_path, iid),
  ),
  time_stats: derived(timeStatsShape, (row: FullMergeRequest) => timeStats(row)),
  // Not in the API document, but current clients read these fields.
  assignees: derived(array(basicUserShape), ({ assignees }: FullMergeRequest, site) =>
    assignees.map((user) => basicUser(user, site)),
  ),
  reviewers: derived(array(basicUserShape), ({ reviewers }: FullMergeRequest, site) =>
    reviewers.map((user) => basicUser(user, site)),
  ),
  draft: derived(bool, isDraft),
  squash_commit_sha: { json: asIs(nullable(string)) },
  merged_at: { json: orNull(asTime) },
  merged_by: derived(userShape, ({ merged_by }: FullMergeRequest, site) => userOrNull(merged_by, site)),
  merge_user: derived(userShape, ({ merged_by, merge_user }: FullMergeRequest, site) =>
    userOrNull(merged_by ?? merge_user, site),
  ),
  closed_at: { json: orNull(asTime) },
  closed_by: derived(userShape, ({ closed_by }: FullMergeRequest, site) => userOrNull(closed_by, site)),
  squash: {
    json: asFlag,
    // For a new request, `create.ts` applies the squash option of the project.
    set: setBy(optional(boolean({ description: 'squash the commits when merging' })), {
      toColumn: toFlag,
      initial: 0,
    }),
  },
  squash_on_merge: derived(bool, isSquashedOnMerge),
  // A request is prepared in the transaction that creates it.
  prepared_at: derived(nullable(timestamp), ({ created_at }: FullMergeRequest) => formatTime(created_at)),
  discussion_locked: {
    json: orNull(asFlag),
    // `false` on a discussion that was never locked is stored and leaves no note.
    set: setBy(edits.discussion_locked, {
      toColumn: (isLocked): Flag | null => toFlag(isLocked),
      permission: 'admin_merge_request',
      note: (before: Flag | null, after: Flag | null) => [
        lockText('MergeRequest', before === 1, after === 1),
      ],
    }),
  },
  has_conflicts: derived(bool, hasConflicts),
  references: derived(object({ short: string, relative: string, full: string }), formatReferences),
  diff_refs: derived(
    nullable(object({ base_sha: nullable(string), head_sha: nullable(string), start_sha: nullable(string) })),
    diffRefs,
  ),
  changes_count: derived(nullable(string), ({ real_size }: FullMergeRequest) => real_size),
  task_completion_status: derived(taskCountsShape, ({ description }: FullMergeRequest) =>
    taskCounts(description),
  ),
  rebase_in_progress: { json: asFlag },
  merge_error: { json: asIs(nullable(string)) },
  author_id: internal,
  milestone_id: internal,
  checked_source_sha: internal,
  checked_target_sha: internal,
  diff_id: internal,
  head_sha: internal,
  merge_user_id: internal,
  merge_params: internal,
  time_estimate: internal,
  total_time_spent: internal,
  merged_by_id: internal,
  closed_by_id: internal,
  last_edited_at: internal,
  last_edited_by_id: internal,
  deleted_at: internal,
  revision: internal,
  /** Must be last: for a single request, `detailed_merge_status.ts` replaces it at the end of the text. */
  detailed_merge_status: derived(string, detailedStatus),
} satisfies FieldsOf<MergeRequestRow, FullMergeRequest>;
