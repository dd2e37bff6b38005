/** Routes to list, give and remove approvals of a merge request. */
import { endpoint } from '../../../core/access/endpoint.ts';
import { anything, array, bool, object, optional, string, text } from '../../../platform/http/schema.ts';
import { approvalsJson, approvalsShape } from './json.ts';
import { loadApprovals, approve, resetApprovals, unapprove } from './approvals.ts';
import { findReadable } from '../find.ts';
import { requestParams, requestPath } from '../params.ts';

const area = 'merge_requests';

const list = endpoint({
  method: 'GET',
  path: `${requestPath}/approvals`,
  summary: 'Get the approvals of a merge request',
  area,
  audience: 'user',
  params: object(requestParams),
  reply: approvalsShape,
  handle: async (call, params) => {
    const loaded = await findReadable(call, params.id, params.merge_request_iid);
    return await approvalsJson(call, loaded, await loadApprovals(call.db, loaded.target.id));
  },
});

const state = endpoint({
  method: 'GET',
  path: `${requestPath}/approval_state`,
  summary: 'Get the approval rules of a merge request (always empty)',
  area,
  audience: 'user',
  params: object(requestParams),
  reply: object({ approval_rules_overwritten: bool, rules: array(anything) }),
  handle: async (call, params) => {
    await findReadable(call, params.id, params.merge_request_iid);
    return { approval_rules_overwritten: false, rules: [] };
  },
});

const approveRoute = endpoint({
  method: 'POST',
  path: `${requestPath}/approve`,
  summary: 'Approve a merge request (developers)',
  area,
  audience: 'user',
  params: object({
    ...requestParams,
    sha: optional(text({ description: 'expected head commit; refused if it differs' })),
  }),
  reply: approvalsShape,
  handle: async (call, params) => {
    const loaded = await findReadable(call, params.id, params.merge_request_iid);
    const approved = await approve(call, loaded, params.sha);
    return await approvalsJson(call, approved, await loadApprovals(call.db, loaded.target.id));
  },
});

const unapproveRoute = endpoint({
  method: 'POST',
  path: `${requestPath}/unapprove`,
  summary: 'Revoke your approval of a merge request (developers)',
  area,
  audience: 'user',
  params: object(requestParams),
  reply: approvalsShape,
  handle: async (call, params) => {
    const loaded = await findReadable(call, params.id, params.merge_request_iid);
    const updated = await unapprove(call, loaded);
    return await approvalsJson(call, updated, await loadApprovals(call.db, loaded.target.id));
  },
});

const resetRoute = endpoint({
  method: 'PUT',
  path: `${requestPath}/reset_approvals`,
  summary: 'Remove all approvals of a merge request (developers)',
  area,
  audience: 'user',
  status: 202,
  params: object(requestParams),
  reply: object({ message: string }),
  handle: async (call, params) => {
    await resetApprovals(call, await findReadable(call, params.id, params.merge_request_iid));
    return { message: '202 Accepted' };
  },
});

export const approvalRoutes = [list, state, approveRoute, unapproveRoute, resetRoute];
