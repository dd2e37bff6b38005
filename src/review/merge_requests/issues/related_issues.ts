import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { visibleIssues } from '../../../core/access/visible.ts';
import type { JsonText } from '../../../platform/http/endpoint.ts';
import {
  type Page,
  type PageRequest,
  pageParams,
  pageRequest,
  withTotal,
} from '../../../platform/http/page.ts';
import { object } from '../../../platform/http/schema.ts';
import { issueShape } from '../../../planning/issues/json.ts';
import { type LoadedMergeRequest, findReadable } from '../find.ts';
import { requestParams, requestPath } from '../params.ts';
import { loadIssueTexts } from './closes_issues.ts';

/** Lists the issues that a merge request closes or mentions and that the caller sees, the earliest first. */
const listRelatedIssues = async (
  call: Call,
  { merge_request: { id } }: LoadedMergeRequest,
  page: PageRequest,
): Promise<Page<JsonText>> => {
  const related = sql`from issues join projects on projects.id = issues.project_id
    where issues.id in (
      select notes.target_id from notes where notes.mentioned_by_type = 'MergeRequest'
        and notes.mentioned_by_id = ${id} and notes.target_type = 'Issue'
      union select issue_id from merge_requests_closing_issues where merge_request_id = ${id})
      and ${visibleIssues(call.viewer, call.platform.store.dialect)}`;
  const { rows } = await sql<{ id: number }>`select issues.id ${related}
    order by issues.id limit ${page.limit} offset ${page.offset}`.execute(call.db);
  const count = async (): Promise<{ total: number }> => {
    const counted = await sql<{ total: number }>`select count(*) as total ${related}`.execute(call.db);
    return counted.rows[0] ?? { total: 0 };
  };
  const { items, total } = await withTotal(page, rows, count);
  return {
    items: await loadIssueTexts(
      call,
      items.map((issue) => issue.id),
    ),
    total,
  };
};

export const relatedIssues = endpoint({
  method: 'GET',
  path: `${requestPath}/related_issues`,
  summary: 'List issues that a merge request closes or mentions, earliest first',
  area: 'merge_requests',
  audience: 'user',
  list: true,
  params: object({ ...requestParams, ...pageParams }),
  reply: issueShape,
  handle: async (call, params) =>
    await listRelatedIssues(
      call,
      await findReadable(call, params.id, params.merge_request_iid),
      pageRequest(params),
    ),
});
