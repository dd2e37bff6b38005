import { may } from '../access/may.ts';
import type { Noun } from '../issuables/target.ts';
import { carryOut } from '../quick_actions/carry_out.ts';
import { reloadMergeRequest } from './find.ts';
import { mergeRequestNoun } from './noun.ts';
import { updateMergeRequest } from './update.ts';

/** What quick actions in a comment do to a merge request. */
const act: Noun['act'] = async (call, { project, target }, actions) => {
  const found = await reloadMergeRequest(call.db, project, target.id);
  const { merge_request } = found;
  return await carryOut({ noun: mergeRequestNoun, call, found }, actions, {
    current: {
      state: merge_request.state,
      title: merge_request.title,
      assignee_ids: found.target.assignee_ids,
      reviewer_ids: merge_request.reviewers.map(({ id }) => id),
      review_requested_ids: [],
      milestone_id: merge_request.milestone_id,
      labels: merge_request.labels,
      time_estimate: merge_request.time_estimate,
      time_spent: merge_request.total_time_spent,
    },
    mayAdmin: may(call.viewer, 'admin_merge_request', project),
    edit: async ({ confidential: _c, due_date: _d, ...wanted }) =>
      await updateMergeRequest(call, found, wanted),
  });
};

/** Merge requests, for what comments on them may do. */
export const commentedMergeRequest: Noun = { ...mergeRequestNoun, act };
