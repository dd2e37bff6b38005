import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { endpoint } from '../../../core/access/endpoint.ts';
import { canSeeMergeRequests } from '../../../core/access/visible.ts';
import type { JsonText } from '../../../platform/http/endpoint.ts';
import { type Page, type PageRequest, pageParams, pageRequest } from '../../../platform/http/page.ts';
import { id, idOrPath, object } from '../../../platform/http/schema.ts';
import type { LoadedTarget } from '../../../planning/issuables/target.ts';
import { findIssue } from '../../../planning/issues/find.ts';
import { mergeRequestShape } from '../json.ts';
import { type Version, mergeRequestTexts } from '../lists/json_cache.ts';

type Row = Version & { total: number };

/** Lists the merge requests of the project of the issue that close it, newest first. */
export const listClosers = async (
  call: Call,
  { target, project }: LoadedTarget,
  page: PageRequest,
): Promise<Page<JsonText>> => {
  if (!canSeeMergeRequests(call.viewer, project)) return { items: [], total: 0 };
  // A cross join, so that SQLite starts from the issue and not from all merge requests of the project.
  const closers = sql`from merge_requests_closing_issues as closing cross join merge_requests
    where merge_requests.id = closing.merge_request_id and closing.issue_id = ${target.id} and merge_requests.project_id = ${project.id}
      and merge_requests.deleted_at is null`;
  const { rows } = await sql<Row>`
    select merge_requests.id, merge_requests.revision, (select count(*) ${closers}) as total ${closers}
    order by merge_requests.id desc limit ${page.limit} offset ${page.offset}`.execute(call.db);
  const total = rows[0]?.total ?? (page.offset === 0 ? 0 : await count(call, closers));
  return { items: await mergeRequestTexts(call, rows), total };
};

const count = async (call: Call, closers: ReturnType<typeof sql>): Promise<number> => {
  const { rows } = await sql<{ total: number }>`select count(*) as total ${closers}`.execute(call.db);
  return rows[0]?.total ?? 0;
};

export const closedBy = endpoint({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/closed_by',
  summary: 'List merge requests that close an issue',
  area: 'issues',
  audience: 'user',
  list: true,
  params: object({ id: idOrPath('project'), issue_iid: id('iid of the issue'), ...pageParams }),
  reply: mergeRequestShape,
  handle: async (call, params) => {
    const loaded = await findIssue(call, params.id, params.issue_iid);
    return await listClosers(call, loaded, pageRequest(params));
  },
});
