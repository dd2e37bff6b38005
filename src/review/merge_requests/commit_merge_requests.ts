/** Lists merge requests that contain a commit or created it by merging. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import type { JsonText } from '../../platform/http/endpoint.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import type { Project } from '../../projects/projects/find.ts';
import { type Version, mergeRequestTexts } from './lists/json_cache.ts';

const selectRequestIds = (projectId: number, sha: string): RawBuilder<unknown> => sql`
  select id from merge_requests where project_id = ${projectId} and merge_commit_sha = ${sha}
  union
  select id from merge_requests where project_id = ${projectId} and squash_commit_sha = ${sha}
  union
  select merge_requests.id from merge_request_commits
    cross join merge_request_diffs cross join merge_requests
    where merge_request_commits.sha = ${sha}
      and merge_request_diffs.id = merge_request_commits.diff_id
      and merge_requests.id = merge_request_diffs.merge_request_id
      and merge_requests.diff_id = merge_request_diffs.id
      and merge_requests.project_id = ${projectId}`;

/** Lists the requests into this project, newest first. The caller must be able to read its merge requests. */
export const listOfCommit = async (
  call: Call,
  { id }: Project,
  sha: string,
  { limit, offset }: PageRequest,
): Promise<Page<JsonText>> => {
  // The cross join makes SQLite start with the few matching ids.
  const source = sql`(${selectRequestIds(id, sha)}) as found cross join merge_requests
    where merge_requests.id = found.id and deleted_at is null`;
  const [{ rows: totals }, { rows }] = await Promise.all([
    sql<{ total: number }>`select count(*) as total from ${source}`.execute(call.db),
    sql<Version>`select merge_requests.id, revision from ${source}
      order by merge_requests.id desc limit ${limit} offset ${offset}`.execute(call.db),
  ]);
  return { items: await mergeRequestTexts(call, rows), total: totals[0]?.total ?? 0 };
};
