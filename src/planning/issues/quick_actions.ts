import { may } from '../../core/access/may.ts';
import type { Noun } from '../issuables/target.ts';
import { executeQuickActions } from '../quick_actions/execute.ts';
import { reloadIssue } from './find.ts';
import { findIssueTarget } from './find_target.ts';
import { issueNoun } from './noun.ts';
import { updateIssue } from './update.ts';

/** Executes the quick actions of a comment on an issue. */
const act: Noun['act'] = async (call, { project, target }, actions) => {
  const loaded = await reloadIssue(call.db, project, target.id);
  const { issue } = loaded;
  return await executeQuickActions({ noun: issueNoun, call, loaded }, actions, {
    current: {
      state: issue.state,
      title: issue.title,
      assignee_ids: loaded.target.assignee_ids,
      milestone_id: issue.milestone_id,
      labels: issue.labels,
      discussion_locked: issue.discussion_locked === 1,
      confidential: issue.confidential === 1,
      due_date: issue.due_date,
      time_estimate: issue.time_estimate,
      time_spent: issue.total_time_spent,
    },
    mayAdmin: may(call.viewer, 'admin_issue', project),
    edit: async ({ reviewer_ids: _r, review_requested_ids: _a, ...requested }) =>
      await updateIssue(call, loaded, requested),
  });
};

/** The issue noun with quick actions, for comments. */
export const commentedIssue: Noun = { ...issueNoun, find: findIssueTarget, act };
