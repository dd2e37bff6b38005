import { may } from '../../core/access/may.ts';
import type { Noun } from '../../planning/issuables/target.ts';
import { executeQuickActions } from '../../planning/quick_actions/execute.ts';
import { reloadMergeRequest } from './find.ts';
import { mergeRequestNoun } from './noun.ts';
import { updateMergeRequest } from './update.ts';

/** Runs the quick actions of a comment on a merge request. */
const act: Noun['act'] = async (call, { project, target }, actions) => {
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
  });
};

/** The noun for comments on merge requests, which can run quick actions. */
export const commentedMergeRequest: Noun = { ...mergeRequestNoun, act };
