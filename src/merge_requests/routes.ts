import { type Call, endpoint } from '../access/call.ts';
import { may } from '../access/may.ts';
import { awardRoutes } from '../awards/routes.ts';
import { discussionRoutes } from '../discussions/routes.ts';
import { forbidden } from '../errors.ts';
import {
  boolean,
  clearable,
  id,
  idOrPath,
  integers,
  longText,
  object,
  optional,
  text,
} from '../http/schema.ts';
import { editable as sharedEditable, edits, requireEdit, withAssignees } from '../issuables/params.ts';
import type { Found } from '../issuables/target.ts';
import { noteRoutes } from '../notes/routes.ts';
import { findProjectFor } from '../projects/find.ts';
import { subscriptionRoutes } from '../subscriptions/routes.ts';
import { timeTrackingRoutes } from '../time_tracking/routes.ts';
import { markTodoRoute } from '../todos/mark.ts';
import { commentedMergeRequest } from './act.ts';
import { approvalRoutes } from './approval_routes.ts';
import { closesIssues } from './closes_issues.ts';
import { createMergeRequest } from './create.ts';
import { deleteMergeRequest } from './delete.ts';
import { draftNoteRoutes } from './draft_note_routes.ts';
import { findMergeRequest, findReadable } from './find.ts';
import { singleMergeRequestShape, todoMergeRequestShape } from './json.ts';
import { listRoutes } from './list_routes.ts';
import { requestParams, requestPath } from './params.ts';
import { cancelRoute, mergeRoute, moreMergeRoutes } from './merge_routes.ts';
import { mergeRequestNoun, trackedMergeRequest } from './noun.ts';
import { reviewerRoutes } from './reviewer_routes.ts';
import { showMergeRequest, singleReply } from './show.ts';
import { mergeRequestTodos } from './todos.ts';
import { updateMergeRequest } from './update.ts';
import {
  changesRoute,
  commitsRoute,
  moreVersionRoutes,
  versionRoute,
  versionsRoute,
} from './version_routes.ts';

const area = 'merge_requests';
const branch = (description: string) => text({ maxLength: 1000, description });

const rendered = async (call: Call, found: Found) => await singleReply(call, found);

const get = endpoint({
  method: 'GET',
  path: requestPath,
  polled: 10_000,
  summary: 'One merge request',
  area,
  audience: 'user',
  params: object(requestParams),
  reply: singleMergeRequestShape,
  handle: async (call, params) => await showMergeRequest(call, params.id, params.merge_request_iid),
});

const editable = {
  ...sharedEditable,
  reviewer_ids: optional(integers({ description: 'users who are asked to review it; 0 for none' })),
  remove_source_branch: optional(boolean({ description: 'once it is merged' })),
  squash: optional(boolean({ description: 'make one commit of all, once it is merged' })),
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
    title: longText('255 characters at most'),
    ...editable,
    target_project_id: optional(clearable(id('another project of the fork network'))),
  }),
  reply: singleMergeRequestShape,
  handle: async (call, params) => {
    const source = await findProjectFor(call, params.id, 'create_merge_request_from');
    return await rendered(call, await createMergeRequest(call, source, withAssignees(params)));
  },
});

const editNames = [
  'assignee_id',
  'assignee_ids',
  'description',
  'labels',
  'add_labels',
  'remove_labels',
  'reviewer_ids',
  'milestone_id',
  'remove_source_branch',
  'squash',
  'state_event',
  'target_branch',
  'title',
] as const;

const update = endpoint({
  method: 'PUT',
  path: requestPath,
  summary: 'Edit, close or reopen a merge request',
  area,
  audience: 'user',
  params: object({
    ...requestParams,
    target_branch: optional(branch('branch to merge into')),
    ...editable,
    ...edits,
  }),
  reply: singleMergeRequestShape,
  handle: async (call, params) => {
    requireEdit(params, editNames);
    const found = await findReadable(call, params.id, params.merge_request_iid);
    if (!mergeRequestNoun.mayUpdate(call, found)) throw forbidden();
    return await rendered(call, await updateMergeRequest(call, found, withAssignees(params)));
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
    const found = await findMergeRequest(call, params.id, params.merge_request_iid);
    if (!may(call.viewer, 'destroy_merge_request', found.project)) throw forbidden();
    await deleteMergeRequest(call, found);
  },
});

export const mergeRequestRoutes = [
  ...listRoutes,
  get,
  commitsRoute,
  changesRoute,
  create,
  update,
  remove,
  mergeRoute,
  cancelRoute,
  closesIssues,
  ...subscriptionRoutes(mergeRequestNoun, { shape: singleMergeRequestShape, render: rendered }),
  markTodoRoute(mergeRequestNoun, { shape: todoMergeRequestShape, renderer: mergeRequestTodos }),
  versionsRoute,
  versionRoute,
  ...timeTrackingRoutes(trackedMergeRequest),
  ...noteRoutes(commentedMergeRequest),
  ...discussionRoutes(commentedMergeRequest),
  ...draftNoteRoutes,
  ...awardRoutes(mergeRequestNoun),
  ...approvalRoutes,
  ...reviewerRoutes,
  ...moreMergeRoutes,
  ...moreVersionRoutes,
];
