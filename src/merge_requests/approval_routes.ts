/** Approvals of a merge request. */
import { endpoint } from '../access/call.ts';
import { anything, array, bool, object, optional, text } from '../http/schema.ts';
import { approvalsJson, approvalsShape } from './approvals_json.ts';
import { approvalsOf, approve, unapprove } from './approvals.ts';
import { findReadable } from './find.ts';
import { requestParams, requestPath } from './params.ts';

const area = 'merge_requests';

const list = endpoint({
  method: 'GET',
  path: `${requestPath}/approvals`,
  summary: 'Who has approved a merge request',
  area,
  audience: 'user',
  params: object(requestParams),
  reply: approvalsShape,
  handle: async (call, given) => {
    const found = await findReadable(call, given.id, given.merge_request_iid);
    return await approvalsJson(call, found, await approvalsOf(call.db, found.target.id));
  },
});

const state = endpoint({
  method: 'GET',
  path: `${requestPath}/approval_state`,
  summary: 'Rules of approval of a merge request: there are none',
  area,
  audience: 'user',
  params: object(requestParams),
  reply: object({ approval_rules_overwritten: bool, rules: array(anything) }),
  handle: async (call, given) => {
    await findReadable(call, given.id, given.merge_request_iid);
    return { approval_rules_overwritten: false, rules: [] };
  },
});

const give = endpoint({
  method: 'POST',
  path: `${requestPath}/approve`,
  summary: 'Approve a merge request (developers)',
  area,
  audience: 'user',
  params: object({
    ...requestParams,
    sha: optional(text({ description: 'its head, as the caller has seen it' })),
  }),
  reply: approvalsShape,
  handle: async (call, given) => {
    const found = await findReadable(call, given.id, given.merge_request_iid);
    const approved = await approve(call, found, given.sha);
    return await approvalsJson(call, approved, await approvalsOf(call.db, found.target.id));
  },
});

const takeBack = endpoint({
  method: 'POST',
  path: `${requestPath}/unapprove`,
  summary: 'Take back an approval of a merge request (developers)',
  area,
  audience: 'user',
  params: object(requestParams),
  reply: approvalsShape,
  handle: async (call, given) => {
    const found = await findReadable(call, given.id, given.merge_request_iid);
    const left = await unapprove(call, found);
    return await approvalsJson(call, left, await approvalsOf(call.db, found.target.id));
  },
});

export const approvalRoutes = [list, state, give, takeBack];
