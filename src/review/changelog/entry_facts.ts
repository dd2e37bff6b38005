/** Loads the merge requests of commits that the caller sees. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import type { Project } from '../../projects/projects/find.ts';

/** Returns the iid of the oldest merged request of each commit, by its id. */
export const loadMergeRequests = async (
  { db, viewer, platform }: Call,
  project: Project,
  shas: readonly string[],
): Promise<Map<string, number>> => {
  if (shas.length === 0 || !may(viewer, 'read_merge_request', project)) return new Map();
  const { dialect } = platform.store;
  const merged = sql`merge_requests.project_id = ${project.id} and merge_requests.state = 'merged'
    and merge_requests.deleted_at is null`;
  const { rows } = await sql<{ sha: string; iid: number }>`
    select sha, min(iid) as iid from (
      select merge_commit_sha as sha, iid from merge_requests
        where ${merged} and ${dialect.oneOf('merge_commit_sha', shas)}
      union all
      select squash_commit_sha, iid from merge_requests where ${merged} and ${dialect.oneOf('squash_commit_sha', shas)}
      union all
      select merge_request_commits.sha, iid from merge_request_commits
        cross join merge_request_diffs cross join merge_requests
        where ${dialect.oneOf('merge_request_commits.sha', shas)}
          and merge_request_diffs.id = merge_request_commits.diff_id
          and merge_requests.id = merge_request_diffs.merge_request_id
          and merge_requests.diff_id = merge_request_diffs.id and ${merged}
    ) as found group by sha`.execute(db);
  return new Map(rows.map(({ sha, iid }) => [sha, iid]));
};
