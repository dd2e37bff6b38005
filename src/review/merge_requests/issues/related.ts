import { sql } from 'kysely';
import { endpoint } from '../../../core/access/endpoint.ts';
import { visibleMergeRequests } from '../../../core/access/visible.ts';
import { pageParams, pageRequest } from '../../../platform/http/page.ts';
import { id, idOrPath, object } from '../../../platform/http/schema.ts';
import { findIssue } from '../../../planning/issues/find.ts';
import { mergeRequestShape } from '../json.ts';
import { type Version, mergeRequestTexts } from '../lists/json_cache.ts';

export const relatedMergeRequests = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/related_merge_requests',
  summary: 'Merge requests that mention an issue, the earliest first',
  area: 'issues',
  audience: 'user',
  list: true,
  params: object({ id: idOrPath('project'), issue_iid: id('iid of the issue'), ...pageParams }),
  reply: mergeRequestShape,
  handle: async (call, params) => {
    const { target } = await findIssue(call, params.id, params.issue_iid);
    const { limit, offset } = pageRequest(params);
    const related = sql`from merge_requests join projects on projects.id = merge_requests.project_id
      where merge_requests.id in (
        select notes.mentioned_by_id from notes where notes.target_type = 'Issue'
          and notes.target_id = ${target.id} and notes.mentioned_by_type = 'MergeRequest'
        union select merge_request_id from merge_requests_closing_issues where issue_id = ${target.id})
        and ${visibleMergeRequests(call.viewer, call.platform.store.dialect)}`;
    const [{ rows }, counted] = await Promise.all([
      sql<Version>`select merge_requests.id, merge_requests.revision ${related}
        order by merge_requests.id limit ${limit} offset ${offset}`.execute(call.db),
      sql<{ total: number }>`select count(*) as total ${related}`.execute(call.db),
    ]);
    return { items: await mergeRequestTexts(call, rows), total: counted.rows[0]?.total ?? 0 };
  },
});
