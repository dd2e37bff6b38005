/** The open requests that a branch takes part in. */
import type { Platform } from '../access/call.ts';
import type { Reader } from '../db/open.ts';
import { loadProject } from '../projects/find.ts';
import { type FoundMergeRequest, reloadMergeRequest } from './find.ts';

/** More of one branch are looked at when they are read. */
const mostAtOnce = 1_000;

const openOnes = (db: Reader) =>
  db
    .selectFrom('merge_requests')
    .select(['merge_requests.id', 'merge_requests.project_id'])
    .where('merge_requests.state', '=', 'opened')
    .where('merge_requests.deleted_at', 'is', null)
    .orderBy('merge_requests.id')
    .limit(mostAtOnce);

export type OpenRequest = { id: number; project_id: number };

export const openFrom = async (db: Reader, projectId: number, branch: string): Promise<OpenRequest[]> =>
  await openOnes(db).where('source_project_id', '=', projectId).where('source_branch', '=', branch).execute();

export const openInto = async (db: Reader, projectId: number, branch: string): Promise<OpenRequest[]> =>
  await openOnes(db)
    .where('merge_requests.project_id', '=', projectId)
    .where('target_branch', '=', branch)
    .execute();

/** Values of one statement. */
const shasAtOnce = 5_000;

/** Those of `openInto` that bring any of these commits. */
export const openWith = async (
  { store: { db, words } }: Pick<Platform, 'store'>,
  projectId: number,
  branch: string,
  shas: readonly string[],
): Promise<OpenRequest[]> => {
  const found = new Map<number, OpenRequest>();
  for (let at = 0; at < shas.length; at += shasAtOnce) {
    const bringing = db
      .selectFrom('merge_request_commits')
      .select('diff_id')
      .where(words.oneOf('sha', shas.slice(at, at + shasAtOnce)));
    // oxlint-disable-next-line no-await-in-loop -- a part after another
    const rows = await openOnes(db)
      .where('merge_requests.project_id', '=', projectId)
      .where('target_branch', '=', branch)
      .where('diff_id', 'in', bringing)
      .execute();
    for (const row of rows) found.set(row.id, row);
  }
  return [...found.values()].toSorted((a, b) => a.id - b.id);
};

/** The request with its target; null: either is gone. */
export const loadRequest = async (
  db: Reader,
  { id, project_id }: OpenRequest,
): Promise<FoundMergeRequest | null> => {
  const project = await loadProject(db, project_id);
  if (project === null) return null;
  const found = await reloadMergeRequest(db, project, id);
  return found.merge_request.deleted_at === null ? found : null;
};
