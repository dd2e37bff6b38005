import { may } from '../access/may.ts';
import type { Noun } from '../issuables/target.ts';
import { carryOut } from '../quick_actions/carry_out.ts';
import { reloadIssue } from './find.ts';
import { issueNoun } from './noun.ts';
import { updateIssue } from './update.ts';

/** What quick actions in a comment do to an issue. */
const act: Noun['act'] = async (call, { project, target }, actions) => {
  const found = await reloadIssue(call.db, project, target.id);
  const { issue } = found;
  return await carryOut({ noun: issueNoun, call, found }, actions, {
    current: {
      state: issue.state,
      title: issue.title,
      assignee_ids: found.target.assignee_ids,
      milestone_id: issue.milestone_id,
      labels: issue.labels,
      confidential: issue.confidential === 1,
      due_date: issue.due_date,
      time_estimate: issue.time_estimate,
      time_spent: issue.total_time_spent,
    },
    mayAdmin: may(call.viewer, 'admin_issue', project),
    edit: async ({ reviewer_ids: _r, review_requested_ids: _a, ...wanted }) =>
      await updateIssue(call, found, wanted),
  });
};

/** Issues, for what comments on them may do. */
export const commentedIssue: Noun = { ...issueNoun, act };
