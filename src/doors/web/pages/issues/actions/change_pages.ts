/** The form that changes properties and the state of an issue. */
import { may } from '../../../../../core/access/may.ts';
import { editable, edits } from '../../../../../planning/issuables/params.ts';
import { createParams } from '../../../../../planning/issuables/fields.ts';
import { issueFields } from '../../../../../planning/issues/fields.ts';
import type { LoadedIssue } from '../../../../../planning/issues/find.ts';
import { type IssueEdit, updateIssue } from '../../../../../planning/issues/update.ts';
import { forbidden } from '../../../../../platform/errors.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { page } from '../../../page.ts';
import { findEditable } from '../../issuables/find_editable.ts';
import {
  type Shown,
  labelChanges,
  mergeList,
  requireShownValue,
  shownParams,
} from '../../issuables/merge_concurrent_edits.ts';
import { namedUserParams, withNamedUsers } from '../../issuables/named_users.ts';
import { submitForm } from '../../issuables/submit_form.ts';
import { oneIssue, issuesRoutePath } from '../paths.ts';
import { issueKind } from '../issue_kind.ts';

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

/** Applies what the form changes to the locked issue. */
const mergeEdit = ({ issue }: LoadedIssue, edit: IssueEdit, shown: Shown): IssueEdit => {
  const { milestone_id, due_date, assignee_ids } = edit;
  const { shown_assignee_ids: shownIds } = shown;
  requireShownValue({
    word: 'milestone',
    shown: shown.shown_milestone_id,
    sent: milestone_id === undefined ? undefined : String(milestone_id ?? ''),
    current: issue.milestone_id === null ? null : String(issue.milestone_id),
    text: issue.milestone?.title ?? null,
  });
  requireShownValue({
    word: 'due date',
    shown: shown.shown_due_date,
    sent: due_date,
    current: issue.due_date,
    text: issue.due_date,
  });
  const current = issue.assignees.map(({ id }) => id);
  return {
    ...labelChanges(edit, shown.shown_labels),
    ...(assignee_ids !== undefined &&
      shownIds !== undefined && { assignee_ids: mergeList(current, shownIds, assignee_ids) }),
  };
};

const change = page({
  method: 'POST',
  path: `${issuesRoutePath}/:iid`,
  audience: 'user',
  params: object({
    ...oneIssue,
    labels,
    add_labels,
    assignee_ids,
    assignee_username: namedUserParams.assignee_username,
    milestone_id,
    due_date,
    confidential,
    state_event,
    discussion_locked,
    ...shownParams,
  }),
  handle: async (visit, { project, iid, ...input }) => {
    const { shown_labels, shown_assignee_ids, shown_reviewer_ids: _none, ...others } = input;
    const { shown_milestone_id, shown_due_date, ...sent } = others;
    const shown = { shown_labels, shown_assignee_ids, shown_milestone_id, shown_due_date };
    const { call } = visit;
    const loaded = await findEditable(issueKind, call, { project, iid });
    const isAdmin = may(call.viewer, 'admin_issue', loaded.project);
    if (!isAdmin && administered.some((name) => name in sent)) throw forbidden();
    return await submitForm({ kind: issueKind, visit, loaded }, async () => {
      const edit = await withNamedUsers(call.db, sent);
      await updateIssue(call, loaded, (locked) => mergeEdit(locked, edit, shown));
    });
  },
});

export const changePages = [change];
