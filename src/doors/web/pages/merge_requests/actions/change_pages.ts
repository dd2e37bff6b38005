/** Forms that change properties and the state of a merge request, and delete it. */
import { may } from '../../../../../core/access/may.ts';
import { resolveAllThreads } from '../../../../../planning/discussions/resolve.ts';
import { editable, edits } from '../../../../../planning/issuables/params.ts';
import {
  isWorkInProgress,
  markDraft,
  withoutWorkInProgress,
} from '../../../../../planning/issuables/text/draft_title.ts';
import { forbidden } from '../../../../../platform/errors.ts';
import { boolean, id, integers, object, optional, text } from '../../../../../platform/http/schema.ts';
import { deleteMergeRequest } from '../../../../../review/merge_requests/delete.ts';
import { type LoadedMergeRequest, findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { mergeRequestNoun } from '../../../../../review/merge_requests/noun.ts';
import {
  type MergeRequestEdit,
  type People,
  updateMergeRequest,
} from '../../../../../review/merge_requests/update.ts';
import { page, redirect } from '../../../page.ts';
import {
  type Shown,
  labelChanges,
  mergeList,
  requireShownTarget,
  requireShownValue,
  shownParams,
} from '../../issuables/merge_concurrent_edits.ts';
import { namedUserParams, withNamedUsers } from '../../issuables/named_users.ts';
import { submitForm } from '../../issuables/submit_form.ts';
import { findEditable } from '../../issuables/find_editable.ts';
import { oneRequest, requestsPath, requestsRoutePath } from '../paths.ts';
import { requestKind } from '../request_kind.ts';

/** Parameters that the API ignores from users who may not administer merge requests. Pages refuse them. */
const administered = [
  'labels',
  'add_labels',
  'assignee_ids',
  'assignee_username',
  'reviewer_ids',
  'reviewer_username',
  'milestone_id',
  'discussion_locked',
];

/** Returns the people of the locked request after what the form changes. */
const mergePeople = (
  { merge_request }: LoadedMergeRequest,
  { milestone_id, assignee_ids, reviewer_ids }: MergeRequestEdit,
  { shown_milestone_id, shown_assignee_ids, shown_reviewer_ids }: Shown,
): People => {
  const { milestone, assignees, reviewers } = merge_request;
  requireShownValue({
    word: 'milestone',
    shown: shown_milestone_id,
    sent: milestone_id === undefined ? undefined : String(milestone_id ?? ''),
    current: milestone === null ? null : String(milestone.id),
    text: milestone?.title ?? null,
  });
  const merge = (users: readonly { id: number }[], shown?: number[], sent?: number[]): number[] | undefined =>
    shown === undefined || sent === undefined
      ? sent
      : mergeList(
          users.map(({ id: userId }) => userId),
          shown,
          sent,
        );
  const assigned = merge(assignees, shown_assignee_ids, assignee_ids);
  const reviewing = merge(reviewers, shown_reviewer_ids, reviewer_ids);
  return {
    ...(assigned !== undefined && { assignee_ids: assigned }),
    ...(reviewing !== undefined && { reviewer_ids: reviewing }),
  };
};

const changePage = page({
  method: 'POST',
  path: `${requestsRoutePath}/:iid`,
  audience: 'user',
  params: object({
    ...oneRequest,
    labels: editable.labels,
    add_labels: edits.add_labels,
    assignee_ids: editable.assignee_ids,
    reviewer_ids: optional(integers()),
    ...namedUserParams,
    milestone_id: editable.milestone_id,
    state_event: edits.state_event,
    target_branch: optional(text({ maxLength: 1_000 })),
    shown_target_branch: optional(text({ maxLength: 1_000 })),
    discussion_locked: edits.discussion_locked,
    ...shownParams,
  }),
  handle: async (visit, { project, iid, shown_target_branch, ...input }) => {
    const { shown_labels, shown_assignee_ids, shown_reviewer_ids, ...others } = input;
    const { shown_milestone_id, shown_due_date: _none, ...sent } = others;
    const shown = { shown_labels, shown_assignee_ids, shown_reviewer_ids, shown_milestone_id };
    const { call } = visit;
    const loaded = await findEditable(requestKind, call, { project, iid });
    const isAdmin = may(call.viewer, 'admin_merge_request', loaded.project);
    if (!isAdmin && administered.some((name) => name in sent)) throw forbidden();
    return await submitForm({ kind: requestKind, visit, loaded }, async () => {
      const edit = labelChanges(await withNamedUsers(call.db, sent), shown_labels);
      await updateMergeRequest(call, loaded, edit, (locked) => {
        requireShownTarget(shown_target_branch, edit.target_branch, locked);
        return mergePeople(locked, edit, shown);
      });
    });
  },
});

const requestReview = page({
  method: 'POST',
  path: `${requestsRoutePath}/:iid/request_review`,
  audience: 'user',
  params: object({ ...oneRequest, user_id: optional(id()) }),
  handle: async (visit, { project, iid, user_id = 0 }) => {
    const { call } = visit;
    const loaded = await findEditable(requestKind, call, { project, iid });
    return await submitForm(
      { kind: requestKind, visit, loaded },
      async () => await updateMergeRequest(call, loaded, { review_requested_ids: [user_id] }),
    );
  },
});

/** Returns the title with or without the mark of a draft. */
const retitled = ({ merge_request: { title } }: LoadedMergeRequest, isDraft: boolean): string => {
  if (isDraft) return markDraft(title);
  return isWorkInProgress(title) ? withoutWorkInProgress(title) : title;
};

const draftPage = (path: 'draft' | 'ready') =>
  page({
    method: 'POST',
    path: `${requestsRoutePath}/:iid/${path}`,
    audience: 'user',
    params: object(oneRequest),
    handle: async (visit, named) => {
      const { call } = visit;
      const loaded = await findEditable(requestKind, call, named);
      const title = retitled(loaded, path === 'draft');
      return await submitForm(
        { kind: requestKind, visit, loaded },
        async () => await updateMergeRequest(call, loaded, { title }),
      );
    },
  });

const deletePage = page({
  method: 'POST',
  path: `${requestsRoutePath}/:iid/delete`,
  audience: 'user',
  params: object({ ...oneRequest, confirmed: optional(boolean()) }),
  handle: async (visit, { project, iid, confirmed = false }) => {
    const { call } = visit;
    const loaded = await findMergeRequest(call, project, iid);
    if (!may(call.viewer, 'destroy_merge_request', loaded.project)) throw forbidden();
    if (!confirmed) {
      const alert = 'Confirm that the merge request is to be deleted.';
      return await requestKind.view(visit, loaded, { alert });
    }
    await deleteMergeRequest(call, loaded);
    return redirect(requestsPath(loaded.project), `Merge request !${iid} was deleted.`);
  },
});

const resolveAll = page({
  method: 'POST',
  path: `${requestsRoutePath}/:iid/resolve_all`,
  audience: 'user',
  params: object(oneRequest),
  handle: async (visit, { project, iid }) => {
    const loaded = await findMergeRequest(visit.call, project, iid);
    return await submitForm(
      { kind: requestKind, visit, loaded },
      async () => await resolveAllThreads(mergeRequestNoun, visit.call, loaded),
      { notice: 'All threads were resolved.' },
    );
  },
});

export const changePages = [
  changePage,
  requestReview,
  resolveAll,
  draftPage('draft'),
  draftPage('ready'),
  deletePage,
];
