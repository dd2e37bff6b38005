import { type Call, endpoint } from '../access/call.ts';
import { type Page, type PageRequest, pageParams, pageRequest } from '../http/page.ts';
import { id, idOrPath, object } from '../http/schema.ts';
import { findIssue } from '../issues/find.ts';
import { type MergeRequestJson, mergeRequestShape, mergeRequestsById } from './json.ts';

/** The merge requests that close an issue, newest first. */
const closersOf = async (call: Call, issueId: number, page: PageRequest): Promise<Page<MergeRequestJson>> => {
  const closing = call.db.selectFrom('merge_requests_closing_issues').where('issue_id', '=', issueId);
  const { total } = await closing
    .select((is) => is.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await closing
    .select('merge_request_id')
    .orderBy('merge_request_id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const items = await mergeRequestsById(
    call,
    rows.map((row) => row.merge_request_id),
  );
  return { items, total };
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
