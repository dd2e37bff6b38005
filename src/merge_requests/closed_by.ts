import { sql } from 'kysely';
import { type Call, endpoint } from '../access/call.ts';
import { canSeeMergeRequests } from '../access/visible.ts';
import type { JsonText } from '../http/endpoint.ts';
import { type Page, type PageRequest, pageParams, pageRequest } from '../http/page.ts';
import { id, idOrPath, object } from '../http/schema.ts';
import type { Found } from '../issuables/target.ts';
import { findIssue } from '../issues/find.ts';
import { mergeRequestShape } from './json.ts';
import { type Version, mergeRequestTexts } from './texts.ts';

type Row = Version & { total: number };

/** The merge requests of the issue's own project that close it, newest first. */
const closersOf = async (
  call: Call,
  { target, project }: Found,
  page: PageRequest,
): Promise<Page<JsonText>> => {
  if (!canSeeMergeRequests(call.viewer, project)) return { items: [], total: 0 };
  const closers = sql`from merge_requests_closing_issues as closing
    join merge_requests on merge_requests.id = closing.merge_request_id
    where closing.issue_id = ${target.id} and merge_requests.project_id = ${project.id}
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
  summary: 'Merge requests that close an issue when they are merged',
  area: 'issues',
  audience: 'user',
  list: true,
  params: object({ id: idOrPath('project'), issue_iid: id('iid of the issue'), ...pageParams }),
  reply: mergeRequestShape,
  handle: async (call, params) => {
    const found = await findIssue(call, params.id, params.issue_iid);
    return await closersOf(call, found, pageRequest(params));
  },
});
