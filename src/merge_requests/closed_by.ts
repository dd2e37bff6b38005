import { type Call, endpoint } from '../access/call.ts';
import { type Page, type PageRequest, pageParams, pageRequest } from '../http/page.ts';
import { id, idOrPath, object } from '../http/schema.ts';
import { findIssue } from '../issues/find.ts';
import { type MergeRequestJson, mergeRequestShape, mergeRequestsById } from './json.ts';

/** The merge requests that close an issue, newest first. Only those that the caller sees are counted. */
const closersOf = async (call: Call, issueId: number, page: PageRequest): Promise<Page<MergeRequestJson>> => {
  const rows = await call.db
    .selectFrom('merge_requests_closing_issues')
    .select('merge_request_id')
    .where('issue_id', '=', issueId)
    .orderBy('merge_request_id', 'desc')
    .execute();
  const seen = await mergeRequestsById(
    call,
    rows.map((row) => row.merge_request_id),
  );
  return { items: seen.slice(page.offset, page.offset + page.limit), total: seen.length };
};

export const closedBy = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/closed_by',
  summary: 'Merge requests that close an issue when they are merged',
  area: 'issues',
  audience: 'user',
  list: true,
  params: object({ id: idOrPath('project'), issue_iid: id('iid of the issue'), ...pageParams }),
  reply: mergeRequestShape,
  handle: async (call, params) => {
    const { target } = await findIssue(call, params.id, params.issue_iid);
    return await closersOf(call, target.id, pageRequest(params));
  },
});
