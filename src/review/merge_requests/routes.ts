import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { may } from '../../core/access/may.ts';
import { awardRoutes } from '../../planning/awards/routes.ts';
import { discussionRoutes } from '../../planning/discussions/routes.ts';
import { forbidden } from '../../platform/errors.ts';
import {
  boolean,
  clearable,
  id,
  idOrPath,
  int,
  integers,
  longText,
  nullable,
  object,
  optional,
  string,
  text,
} from '../../platform/http/schema.ts';
import { createParams, editParams } from '../../planning/issuables/fields.ts';
import {
  editable as sharedEditable,
  edits,
  requireEdit,
  withAssignees,
} from '../../planning/issuables/params.ts';
import type { LoadedTarget } from '../../planning/issuables/target.ts';
import { noteRoutes } from '../../planning/notes/routes.ts';
import { findProjectFor } from '../../projects/projects/find.ts';
import type { HtmlRenderer } from '../../projects/projects/related/html_renderer.ts';
import { resourceEventRoutes } from '../../planning/resource_events/routes.ts';
import { subscriptionRoutes } from '../../planning/subscriptions/routes.ts';
import { timeTrackingRoutes } from '../../planning/time_tracking/routes.ts';
import { markTodoRoute } from '../../planning/todos/add_own_todo.ts';
import { commentedMergeRequest } from './quick_actions.ts';
import { approvalRoutes } from './approvals/routes.ts';
import { suggestionRoutes } from './suggestions/routes.ts';
import { closesIssues } from './issues/closes_issues.ts';
import { relatedIssues } from './issues/related_issues.ts';
import { createMergeRequest } from './create.ts';
import { deleteMergeRequest } from './delete.ts';
import { draftNoteRoutes } from './drafts/routes.ts';
import { mergeRequestFields } from './fields.ts';
import { findMergeRequest, findReadable } from './find.ts';
import { singleMergeRequestFields, singleMergeRequestShape, todoMergeRequestShape } from './json.ts';
import { listRoutes } from './lists/routes.ts';
import { requestParams, requestPath } from './params.ts';
import { cancelRoute, mergeRoute, moreMergeRoutes } from './merging/routes.ts';
import { mergeRequestNoun, trackedMergeRequest } from './noun.ts';
import { reviewerRoutes } from './approvals/reviewer_routes.ts';
import { showMergeRequest, singleReply } from './show.ts';
import { mergeRequestTodos } from './todos.ts';
import { updateMergeRequest } from './update.ts';
import {
  changesRoute,
  commitsRoute,
  moreVersionRoutes,
  versionRoute,
  versionsRoute,
} from './versions/routes.ts';

const area = 'merge_requests';
const branch = (description: string) => text({ maxLength: 1000, description });

const rendered = async (call: Call, loaded: LoadedTarget) => await singleReply(call, loaded);

const get = (html: HtmlRenderer) =>
  endpoint({
    method: 'GET',
    path: requestPath,
    polled: 10_000,
    summary: 'Get a merge request',
    area,
    audience: 'user',
    params: object({
      ...requestParams,
      include_diverged_commits_count: optional(
        boolean({ description: 'count the commits that the source branch lacks' }),
      ),
      render_html: optional(boolean({ description: 'include title and description as HTML' })),
    }),
    reply: object({
      ...singleMergeRequestFields,
      diverged_commits_count: optional(nullable(int)),
      title_html: optional(string),
      description_html: optional(string),
    }),
    handle: async (call, { id, merge_request_iid, ...additions }) =>
      await showMergeRequest(call, { id, iid: merge_request_iid }, additions, html),
  });

const editable = {
  ...sharedEditable,
  reviewer_ids: optional(integers({ description: 'reviewers; 0: none' })),
  ...createParams(mergeRequestFields),
};

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/merge_requests',
  summary: 'Create a merge request',
  area,
  audience: 'user',
  params: object({
    id: idOrPath('source project'),
    source_branch: branch('branch to merge'),
    target_branch: branch('branch to merge into'),
    title: longText('at most 255 characters'),
    ...editable,
    target_project_id: optional(clearable(id('a project of the same fork network'))),
  }),
  reply: singleMergeRequestShape,
  handle: async (call, params) => {
    const source = await findProjectFor(call, params.id, 'create_merge_request_from');
    return await rendered(call, await createMergeRequest(call, source, withAssignees(params)));
  },
});

const editColumns = editParams(mergeRequestFields);

/** Fields that the error text of an empty edit lists separately. */
const listedElsewhere = ['title', 'description', 'discussion_locked'];

const editNames = [
  'assignee_id',
  'assignee_ids',
  'description',
  'discussion_locked',
  'labels',
  'add_labels',
  'remove_labels',
  'reviewer_ids',
  'milestone_id',
  ...Object.keys(editColumns).filter((name) => !listedElsewhere.includes(name)),
  'state_event',
  'target_branch',
  'title',
];

const update = endpoint({
  method: 'PUT',
  path: requestPath,
  summary: 'Update, close or reopen a merge request',
  area,
  audience: 'user',
  params: object({
    ...requestParams,
    target_branch: optional(branch('branch to merge into')),
    ...editable,
    ...edits,
    ...editColumns,
  }),
  reply: singleMergeRequestShape,
  handle: async (call, params) => {
    requireEdit(params, editNames);
    const loaded = await findReadable(call, params.id, params.merge_request_iid);
    if (!mergeRequestNoun.mayUpdate(call, loaded)) throw forbidden();
    return await rendered(call, await updateMergeRequest(call, loaded, withAssignees(params)));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: requestPath,
  summary: 'Delete a merge request (administrators and project owners)',
  area,
  audience: 'user',
  params: object(requestParams),
  reply: null,
  handle: async (call, params) => {
    const loaded = await findMergeRequest(call, params.id, params.merge_request_iid);
    if (!may(call.viewer, 'destroy_merge_request', loaded.project)) throw forbidden();
    await deleteMergeRequest(call, loaded);
  },
});

export const mergeRequestRoutes = (html: HtmlRenderer) => [
  ...listRoutes,
  get(html),
  commitsRoute,
  changesRoute,
  create,
  update,
  remove,
  mergeRoute,
  cancelRoute,
  closesIssues,
  relatedIssues,
  ...subscriptionRoutes(mergeRequestNoun, { shape: singleMergeRequestShape, render: rendered }),
  markTodoRoute(mergeRequestNoun, { shape: todoMergeRequestShape, renderer: mergeRequestTodos }),
  versionsRoute,
  versionRoute,
  ...timeTrackingRoutes(trackedMergeRequest),
  ...resourceEventRoutes(mergeRequestNoun),
  ...noteRoutes(commentedMergeRequest),
  ...discussionRoutes(commentedMergeRequest),
  ...draftNoteRoutes,
  ...awardRoutes(mergeRequestNoun),
  ...approvalRoutes,
  ...suggestionRoutes,
  ...reviewerRoutes,
  ...moreMergeRoutes,
  ...moreVersionRoutes,
];
