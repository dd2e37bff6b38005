import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { may } from '../../core/access/may.ts';
import { awardRoutes } from '../awards/routes.ts';
import { discussionRoutes } from '../discussions/routes.ts';
import { forbidden, notFound, nothingToChange } from '../../platform/errors.ts';
import { findGroup } from '../../identity/groups/find.ts';
import type { JsonText } from '../../platform/http/endpoint.ts';
import { type Page, pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  bool,
  id,
  idOrPath,
  longText,
  object,
  optional,
  string,
  text,
  time,
} from '../../platform/http/schema.ts';
import { scopeParam } from '../issuables/lists/filter_params.ts';
import { labelDetailsParam } from '../issuables/lists/linked_labels.ts';
import type { Scope } from '../issuables/lists/list_kind.ts';
import { milestoneLists } from '../issuables/lists/milestone_list_routes.ts';
import { createParams, editParams } from '../issuables/fields.ts';
import { editable as sharedEditable, edits, requireEdit, withAssignees } from '../issuables/params.ts';
import { listParticipants } from '../issuables/participants.ts';
import { noteRoutes } from '../notes/routes.ts';
import { findProject } from '../../projects/projects/find.ts';
import { resourceEventRoutes } from '../resource_events/routes.ts';
import { subscriptionRoutes } from '../subscriptions/routes.ts';
import { timeTrackingRoutes } from '../time_tracking/routes.ts';
import { markTodoRoute } from '../todos/add_own_todo.ts';
import { basicUserShape } from '../../identity/users/json.ts';
import { commentedIssue } from './quick_actions.ts';
import { createContinuing } from './create_from_discussions.ts';
import { deleteIssue } from './delete.ts';
import { type Filters, filterParams } from './lists/filters.ts';
import { issueFields } from './fields.ts';
import { findIssue } from './find.ts';
import { detailedIssueShape, issueShape, singleIssueShape, todoIssueShape } from './json.ts';
import { listIssues } from './lists/list.ts';
import { moveRoutes } from './move/routes.ts';
import { issueNoun } from './noun.ts';
import { reorderIssue } from './positions/reorder.ts';
import { reloaded, single, singleJson } from './single_issue.ts';
import { showIssue } from './show.ts';
import { statisticsRoutes } from './lists/statistics.ts';
import { detailedIssueTexts, issueTexts } from './lists/json_cache.ts';
import { issueTodos } from './todos.ts';
import { updateIssue } from './update.ts';

const area = 'issues';
const project = { id: idOrPath('project') };
const issue = { ...project, issue_iid: id('iid of the issue') };

const shared = {
  method: 'GET',
  area,
  audience: 'user',
  list: true,
  cached: true,
  reply: detailedIssueShape,
} as const;

type ListParams = Record<string, unknown> & { page: number; per_page: number };

/** Lists issues. Without `scope`, the lists of a group and of a project have the issues of all users. */
const listIn = async (call: Call, scope: Scope, params: ListParams): Promise<Page<JsonText>> => {
  const { id: _id, page: _page, per_page: _perPage, with_labels_details, ...filters } = params;
  return await listIssues({
    call,
    scope,
    filters: { scope: 'all', ...filters } as Filters,
    page: pageRequest(params),
    texts: with_labels_details === true ? detailedIssueTexts : issueTexts,
  });
};

const listParams = { ...filterParams, ...labelDetailsParam, ...pageParams };

const listAll = endpoint({
  ...shared,
  path: '/issues',
  summary: 'List issues, by default those you created',
  params: object({ scope: scopeParam({ default: 'created-by-me' }), ...listParams }),
  handle: async (call, params) => await listIn(call, 'everywhere', params),
});

const listOfGroup = endpoint({
  ...shared,
  path: '/groups/:id/issues',
  summary: 'List issues of a group and its subgroups',
  params: object({ id: idOrPath('group'), scope: optional(scopeParam()), ...listParams }),
  handle: async (call, params) => {
    const group = await findGroup(call, params.id);
    return await listIn(call, { group_id: group.id }, params);
  },
});

const listOfProject = endpoint({
  ...shared,
  path: '/projects/:id/issues',
  summary: 'List issues of a project',
  params: object({ ...project, scope: optional(scopeParam()), ...listParams }),
  handle: async (call, params) => {
    const project = await findProject(call, params.id);
    return await listIn(call, { project }, params);
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid',
  polled: 10_000,
  summary: 'Get an issue',
  area,
  audience: 'user',
  params: object(issue),
  reply: singleIssueShape,
  handle: async (call, params) => await showIssue(call, params.id, params.issue_iid),
});

const { confidential, ...columns } = createParams(issueFields);
const editable = { ...sharedEditable, confidential, ...columns };

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/issues',
  summary: 'Create an issue',
  area,
  audience: 'user',
  params: object({
    ...project,
    title: longText('at most 255 characters'),
    ...editable,
    created_at: optional(time('set by administrators and project owners')),
    merge_request_to_resolve_discussions_of: optional(id('iid of a merge request')),
    discussion_to_resolve: optional(text({ description: 'id of a discussion' })),
  }),
  reply: singleIssueShape,
  handle: async (call, params) => {
    const project = await findProject(call, params.id);
    if (!may(call.viewer, 'create_issue', project)) throw forbidden();
    const created = await createContinuing(call, project, withAssignees(params));
    return singleJson(call, created, created.isSubscribed);
  },
});

const editColumns = editParams(issueFields);

const editNames = [
  'title',
  'description',
  'assignee_ids',
  'assignee_id',
  'milestone_id',
  'labels',
  'add_labels',
  'remove_labels',
  ...Object.keys(editColumns).filter((name) => !['title', 'description'].includes(name)),
  'state_event',
  'updated_at',
];

const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/issues/:issue_iid',
  summary: 'Update, close or reopen an issue',
  area,
  audience: 'user',
  params: object({
    ...issue,
    ...editable,
    ...edits,
    ...editColumns,
    updated_at: optional(time('set by administrators and project owners')),
  }),
  reply: singleIssueShape,
  handle: async (call, params) => {
    requireEdit(params, editNames);
    const loaded = await findIssue(call, params.id, params.issue_iid);
    if (!issueNoun.mayUpdate(call, loaded)) throw forbidden();
    return await single(call, await updateIssue(call, loaded, withAssignees(params)));
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/issues/:issue_iid',
  summary: 'Delete an issue (administrators and project owners)',
  area,
  audience: 'user',
  params: object(issue),
  reply: null,
  handle: async (call, params) => {
    const loaded = await findIssue(call, params.id, params.issue_iid, 'Issue');
    if (!may(call.viewer, 'destroy_issue', loaded.project)) throw forbidden();
    await deleteIssue(call, loaded);
  },
});

const reorder = endpoint({
  method: 'PUT',
  path: '/projects/:id/issues/:issue_iid/reorder',
  summary: 'Move an issue in boards, and in lists ordered by `relative_position`',
  area,
  audience: 'user',
  params: object({
    ...issue,
    move_after_id: optional(id('id of the issue that comes after this one')),
    move_before_id: optional(id('id of the issue that comes before this one')),
  }),
  reply: singleIssueShape,
  handle: async (call, params) => {
    const { move_after_id: below = null, move_before_id: above = null } = params;
    if (below === null && above === null) throw nothingToChange(['move_after_id', 'move_before_id']);
    const loaded = await findIssue(call, params.id, params.issue_iid, 'Issue');
    if (!issueNoun.mayUpdate(call, loaded)) throw forbidden();
    await reorderIssue(call, loaded, { above, below });
    return await reloaded(call, loaded);
  },
});

const userAgentDetail = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/user_agent_detail',
  summary: 'Get the user agent and IP address an issue was created from (administrators)',
  area,
  audience: 'admin',
  params: object(issue),
  reply: object({ user_agent: string, ip_address: string, spam_check_submitted: bool }),
  handle: async (call, params) => {
    const { target } = await findIssue(call, params.id, params.issue_iid);
    const detail = await call.db
      .selectFrom('user_agent_details')
      .select(['user_agent', 'ip_address'])
      .where('target_type', '=', 'Issue')
      .where('target_id', '=', target.id)
      .executeTakeFirst();
    if (detail === undefined) throw notFound('UserAgentDetail');
    return { ...detail, spam_check_submitted: false };
  },
});

const participants = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/participants',
  summary: 'List the participants of an issue',
  area,
  audience: 'user',
  list: true,
  params: object({ ...issue, ...pageParams }),
  reply: basicUserShape,
  handle: async (call, params) =>
    await listParticipants(call, await findIssue(call, params.id, params.issue_iid), pageRequest(params)),
});

const listsOfMilestone = milestoneLists({
  area: 'issues',
  title: 'issues',
  shape: issueShape,
  texts: issueTexts,
  list: listIssues,
});

export const issueRoutes = [
  listAll,
  listOfGroup,
  listOfProject,
  ...listsOfMilestone,
  ...statisticsRoutes,
  get,
  create,
  update,
  remove,
  ...moveRoutes,
  reorder,
  ...subscriptionRoutes(issueNoun, { shape: singleIssueShape, render: reloaded }),
  markTodoRoute(issueNoun, { shape: todoIssueShape, renderer: issueTodos }),
  ...timeTrackingRoutes(issueNoun),
  userAgentDetail,
  participants,
  ...resourceEventRoutes(issueNoun),
  ...noteRoutes(commentedIssue),
  ...discussionRoutes(commentedIssue),
  ...awardRoutes(issueNoun),
];
