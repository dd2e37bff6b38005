/** Properties of issues or merge requests that the bulk edit form needs. */
import type { Call } from '../../../../../core/access/call.ts';
import type { SharedEdit } from '../../../../../planning/issuables/shared_edits.ts';
import type { LoadedTarget } from '../../../../../planning/issuables/target.ts';
import type { IssuableKind } from '../issuable_kind.ts';

/** Changes that can be applied to many records together. */
export type BulkEdit = Pick<
  SharedEdit,
  'assignee_ids' | 'reviewer_ids' | 'milestone_id' | 'add_labels' | 'remove_labels' | 'discussion_locked'
> & {
  state_event?: 'close' | 'reopen';
  /** Only for issues. */
  due_date?: string | null;
  confidential?: boolean;
};

export type BulkKind<L extends LoadedTarget> = Pick<IssuableKind<L>, 'noun'> & {
  /** Loads a record; 404 if the caller may not see it. */
  find: (call: Call, project: number, iid: number) => Promise<L>;
  /** The permission to change labels, assignees and milestones. */
  adminAction: 'admin_issue' | 'admin_merge_request';
  updatedAt: (loaded: L) => number;
  /** Ids of the reviewers; absent: the kind has none. */
  reviewerIds?: (loaded: L) => number[];
  update: (call: Call, loaded: L, edit: BulkEdit) => Promise<L>;
};
