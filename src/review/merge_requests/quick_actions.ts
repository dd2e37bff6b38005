import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { forbidden } from '../../platform/errors.ts';
import type { Noun } from '../../planning/issuables/target.ts';
import { type Editing, executeQuickActions } from '../../planning/quick_actions/execute.ts';
import { approve, requestChanges, unapprove } from './approvals/approvals.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from './find.ts';
import { acceptRequest } from './merging/accept.ts';
import { enqueueRebase } from './merging/rebase.ts';
import { otherHead } from './merging/rules.ts';
import { mergeRequestNoun } from './noun.ts';
import { updateMergeRequest } from './update.ts';

const setTarget = async (call: Call, loaded: LoadedMergeRequest, target_branch: string) => {
  if (!mergeRequestNoun.mayUpdate(call, loaded)) throw forbidden();
  const { merge_request: before } = loaded;
  const { merge_request: after } = await updateMergeRequest(call, loaded, { target_branch });
  return after.target_branch === before.target_branch ? {} : { target_branch };
};

/** Merges the seen or present head, or sets auto-merge if its checks have not passed yet. */
const merge = async (call: Call, loaded: LoadedMergeRequest, seen: string | undefined) => {
  const head = seen ?? loaded.merge_request.head_sha;
  const pinned = head === null ? {} : { sha: head };
  await acceptRequest(call, loaded, { ...pinned, time: 'checks_pass' });
  return { merge: head };
};

/** @param head head that the caller saw; undefined: the present one */
const operationsOn = (
  call: Call,
  { project, target }: LoadedMergeRequest,
  head: string | undefined,
): Editing['operations'] => {
  const reload = async (): Promise<LoadedMergeRequest> =>
    await reloadMergeRequest(call.db, project, target.id);
  return {
    approve: async () => {
      await approve(call, await reload(), head);
      return { approve: true };
    },
    unapprove: async () => {
      await unapprove(call, await reload());
      return { unapprove: true };
    },
    request_changes: async () => {
      const current = await reload();
      if (head !== undefined && head !== current.merge_request.head_sha) throw otherHead();
      await requestChanges(call, current, head ?? '');
      return { request_changes: true };
    },
    merge: async () => await merge(call, await reload(), head),
    rebase: async () => {
      await enqueueRebase(call, await reload());
      return { rebase: true };
    },
    target_branch: async (branch) => await setTarget(call, await reload(), branch),
  };
};

/** Runs the quick actions of a comment on a merge request. */
const act: Noun['act'] = async (call, { project, target }, actions, head) => {
  const loaded = await reloadMergeRequest(call.db, project, target.id);
  const { merge_request } = loaded;
  return await executeQuickActions({ noun: mergeRequestNoun, call, loaded }, actions, {
    current: {
      state: merge_request.state,
      title: merge_request.title,
      assignee_ids: loaded.target.assignee_ids,
      reviewer_ids: merge_request.reviewers.map(({ id }) => id),
      review_requested_ids: [],
      milestone_id: merge_request.milestone_id,
      labels: merge_request.labels,
      discussion_locked: merge_request.discussion_locked === 1,
      time_estimate: merge_request.time_estimate,
      time_spent: merge_request.total_time_spent,
    },
    mayAdmin: may(call.viewer, 'admin_merge_request', project),
    edit: async ({ confidential: _c, due_date: _d, ...requested }) =>
      await updateMergeRequest(call, loaded, requested),
    operations: operationsOn(call, loaded, head),
  });
};

/** The noun for comments on merge requests, which can run quick actions. */
export const commentedMergeRequest: Noun = { ...mergeRequestNoun, act };
