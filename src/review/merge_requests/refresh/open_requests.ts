/** Loads the open requests from or into a branch. */
import type { Platform } from '../../../core/platform.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../find.ts';

/** Maximum number of requests per branch; the others are checked when they are read. */
const maxRequestsPerBranch = 1_000;

const selectOpen = (db: Reader) =>
  db
    .selectFrom('merge_requests')
    .select(['merge_requests.id', 'merge_requests.project_id'])
    .where('merge_requests.state', '=', 'opened')
    .where('merge_requests.deleted_at', 'is', null)
    .orderBy('merge_requests.id')
    .limit(maxRequestsPerBranch);

export type OpenRequest = { id: number; project_id: number };

export const loadOpenFrom = async (db: Reader, projectId: number, branch: string): Promise<OpenRequest[]> =>
  await selectOpen(db)
    .where('source_project_id', '=', projectId)
    .where('source_branch', '=', branch)
    .execute();

export const loadOpenInto = async (db: Reader, projectId: number, branch: string): Promise<OpenRequest[]> =>
  await selectOpen(db)
    .where('merge_requests.project_id', '=', projectId)
    .where('target_branch', '=', branch)
    .execute();

/** Maximum number of ids per statement. */
const shasAtOnce = 5_000;

/** Loads the open requests into a branch whose latest version contains any of these commits. */
export const loadOpenWithCommits = async (
  { store: { db, dialect } }: Pick<Platform, 'store'>,
  projectId: number,
  branch: string,
  shas: readonly string[],
): Promise<OpenRequest[]> => {
  const requestsById = new Map<number, OpenRequest>();
  for (let at = 0; at < shas.length; at += shasAtOnce) {
    const bringing = db
      .selectFrom('merge_request_commits')
      .select('diff_id')
      .where(dialect.oneOf('sha', shas.slice(at, at + shasAtOnce)));
    const rows = await selectOpen(db)
      .where('merge_requests.project_id', '=', projectId)
      .where('target_branch', '=', branch)
      .where('diff_id', 'in', bringing)
      .execute();
    for (const row of rows) requestsById.set(row.id, row);
  }
  return [...requestsById.values()].toSorted((a, b) => a.id - b.id);
};

/** Loads a request with its target project; null if either was deleted. */
export const loadRequest = async (
  db: Reader,
  { id, project_id }: OpenRequest,
): Promise<LoadedMergeRequest | null> => {
  const project = await loadProject(db, project_id);
  if (project === null) return null;
  const loaded = await reloadMergeRequest(db, project, id);
  return loaded.merge_request.deleted_at === null ? loaded : null;
};
