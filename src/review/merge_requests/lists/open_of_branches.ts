import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { visibleMergeRequests } from '../../../core/access/visible.ts';

export type OpenRequest = { iid: number; full_path: string };

type Row = OpenRequest & { source_branch: string };

/** Loads the newest open merge request of each branch of a project that the caller sees, by branch. */
export const loadOpenOfBranches = async (
  { db, viewer, platform }: Call,
  projectId: number,
  branches: readonly string[],
): Promise<Map<string, OpenRequest>> => {
  if (branches.length === 0) return new Map();
  const { dialect } = platform.store;
  const { rows } = await sql<Row>`select source_branch, iid, projects.full_path
    from merge_requests join projects on projects.id = merge_requests.project_id
    where source_project_id = ${projectId} and state = 'opened' and source_branch in (${sql.join(branches)})
      and ${visibleMergeRequests(viewer, dialect)}
    order by merge_requests.id`.execute(db);
  return new Map(rows.map(({ source_branch, ...request }) => [source_branch, request]));
};
