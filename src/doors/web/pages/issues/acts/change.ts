/** Forms that change an issue: its properties, state, times and tasks. */
import { may } from '../../../../../core/access/may.ts';
import { userIdByName } from '../../../../../identity/users/queries.ts';
import { toggleTask } from '../../../../../planning/issuables/text/tasks.ts';
import { editable, edits } from '../../../../../planning/issuables/params.ts';
import { createParams } from '../../../../../planning/issuables/fields.ts';
import { issueFields } from '../../../../../planning/issues/fields.ts';
import type { LoadedIssue } from '../../../../../planning/issues/find.ts';
import { issueNoun } from '../../../../../planning/issues/noun.ts';
import { type IssueEdit, updateIssue } from '../../../../../planning/issues/update.ts';
import {
  changeTimes,
  estimateStep,
  resetEstimateStep,
  spendStep,
} from '../../../../../planning/time_tracking/change.ts';
import { conflict, forbidden, invalid } from '../../../../../platform/errors.ts';
import { boolean, integer, object, optional, text } from '../../../../../platform/http/schema.ts';
import { type Visit, page } from '../../../page.ts';
import { requireBase } from '../base_text.ts';
import { findEditable, oneIssue, servedIssues } from '../find.ts';
import { submit } from './submit.ts';

const { confidential, due_date } = createParams(issueFields);
const { labels, assignee_ids, milestone_id } = editable;
const { add_labels, state_event, discussion_locked } = edits;

/** Parameters that the API ignores from users who may not administer issues. Pages refuse them. */
const administered = [
  'labels',
  'add_labels',
  'assignee_ids',
  'assignee_username',
  'milestone_id',
  'due_date',
  'discussion_locked',
];

type Sent = IssueEdit & { assignee_username?: string };

/** Adds the user that the form names to the assignees. */
const withNamedAssignee = async (
  { call }: Visit,
  { assignee_username = '', ...edit }: Sent,
): Promise<IssueEdit> => {
  const username = assignee_username.trim().replace(/^@/, '');
  if (username === '') return edit;
  const userId = await userIdByName(call.db, username);
  if (userId === undefined) throw invalid({ user: ['does not exist'] });
  return { ...edit, assignee_ids: [...(edit.assignee_ids ?? []), userId] };
};

const change = page({
  method: 'POST',
  path: `${servedIssues}/:iid`,
  audience: 'user',
  params: object({
    ...oneIssue,
    labels,
    add_labels,
    assignee_ids,
    assignee_username: optional(text()),
    milestone_id,
    due_date,
    confidential,
    state_event,
    discussion_locked,
  }),
  handle: async (visit, { project, iid, ...sent }) => {
    const { call } = visit;
    const loaded = await findEditable(call, project, iid);
    const isAdmin = may(call.viewer, 'admin_issue', loaded.project);
    if (!isAdmin && administered.some((name) => name in sent)) throw forbidden();
    return await submit(visit, loaded, async () => {
      await updateIssue(call, loaded, await withNamedAssignee(visit, sent));
    });
  },
});

const time = page({
  method: 'POST',
  path: `${servedIssues}/:iid/time`,
  audience: 'user',
  params: object({ ...oneIssue, time_estimate: optional(text()), spend: optional(text()) }),
  handle: async (visit, { project, iid, time_estimate, spend = '' }) => {
    const { call } = visit;
    const loaded = await findEditable(call, project, iid);
    return await submit(visit, loaded, async () => {
      const estimate = time_estimate?.trim();
      const steps = [
        ...(estimate === undefined ? [] : [estimate === '' ? resetEstimateStep : estimateStep(estimate)]),
        ...(spend.trim() === '' ? [] : [spendStep(spend.trim())]),
      ];
      for (const step of steps) await changeTimes(issueNoun, call, loaded, step);
    });
  },
});

const tick = async (
  { call }: Visit,
  loaded: LoadedIssue,
  { line, done, base }: { line: number; done: boolean; base: string },
): Promise<void> => {
  const description = toggleTask(loaded.issue.description ?? '', line, done);
  if (description === null) throw conflict('The description has no such task any more.');
  await updateIssue(call, loaded, { description }, (locked) => requireBase(base, locked));
};

const tasks = page({
  method: 'POST',
  path: `${servedIssues}/:iid/tasks`,
  audience: 'user',
  params: object({
    ...oneIssue,
    line: optional(integer({ minimum: 0 })),
    done: optional(boolean()),
    base: optional(text()),
  }),
  handle: async (visit, { project, iid, line = 0, done = false, base = '' }) => {
    const loaded = await findEditable(visit.call, project, iid);
    return await submit(visit, loaded, async () => await tick(visit, loaded, { line, done, base }));
  },
});

export const changePages = [change, time, tasks];
