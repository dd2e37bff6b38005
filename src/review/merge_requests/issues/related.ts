import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { visibleMergeRequests } from '../../../core/access/visible.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { JsonText } from '../../../platform/http/endpoint.ts';
import {
  type Page,
  type PageRequest,
  pageParams,
  pageRequest,
  withTotal,
} from '../../../platform/http/page.ts';
import { id, idOrPath, object } from '../../../platform/http/schema.ts';
import type { LoadedTarget } from '../../../planning/issuables/target.ts';
import { findIssue } from '../../../planning/issues/find.ts';
import { mergeRequestShape } from '../json.ts';
import { type Version, mergeRequestTexts } from '../lists/json_cache.ts';

/** Over the id of an issue: the ids of the merge requests that mention or close it. */
const relatedIds = (id: number) => sql`
  select notes.mentioned_by_id from notes where notes.target_type = 'Issue'
    and notes.target_id = ${id} and notes.mentioned_by_type = 'MergeRequest'
  union select merge_request_id from merge_requests_closing_issues where issue_id = ${id}`;

const anyRelated = compiled((db, { id }: { id: number }) =>
  sql`select 1 as found from (${relatedIds(id)}) as related limit 1`.compile(db),
);

/** Lists the merge requests that mention or close an issue and that the caller sees, the earliest first. */
export const listRelated = async (
  call: Call,
  { target }: LoadedTarget,
  page: PageRequest,
): Promise<Page<JsonText>> => {
  // Most issues have none, and what the caller sees takes longer to ask for.
  if ((await anyRelated(call.db, { id: target.id })).length === 0) return { items: [], total: 0 };
  const related = sql`from merge_requests join projects on projects.id = merge_requests.project_id
    where merge_requests.id in (${relatedIds(target.id)})
      and ${visibleMergeRequests(call.viewer, call.platform.store.dialect)}`;
  const { rows } = await sql<Version>`select merge_requests.id, merge_requests.revision ${related}
    order by merge_requests.id limit ${page.limit} offset ${page.offset}`.execute(call.db);
  const count = async (): Promise<{ total: number }> => {
    const counted = await sql<{ total: number }>`select count(*) as total ${related}`.execute(call.db);
    return counted.rows[0] ?? { total: 0 };
  };
  const { items, total } = await withTotal(page, rows, count);
  return { items: await mergeRequestTexts(call, items), total };
};

export const relatedMergeRequests = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/related_merge_requests',
  summary: 'List merge requests that mention an issue, earliest first',
  area: 'issues',
  audience: 'user',
  list: true,
  params: object({ id: idOrPath('project'), issue_iid: id('iid of the issue'), ...pageParams }),
  reply: mergeRequestShape,
  handle: async (call, params) => {
    const loaded = await findIssue(call, params.id, params.issue_iid);
    return await listRelated(call, loaded, pageRequest(params));
  },
});
