/** What a pipeline of a merge request knows of it. */
import { type Viewer, anonymous } from '../access/viewer.ts';
import { canSeeMergeRequests } from '../access/visible.ts';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import type { FoundMergeRequest } from '../merge_requests/find.ts';
import { reloadMergeRequest } from '../merge_requests/find.ts';
import { loadProject } from '../projects/find.ts';
import type { MergeRequestFacts } from './predefined.ts';

export const requestRefOf = (iid: number): string => `refs/merge-requests/${iid}/head`;

/** null: what it comes from is gone. */
export const requestFacts = async (
  db: Reader,
  { merge_request, project }: Pick<FoundMergeRequest, 'merge_request' | 'project'>,
): Promise<MergeRequestFacts | null> => {
  const { source_project_id, base_sha } = merge_request;
  if (source_project_id === null) return null;
  const source = source_project_id === project.id ? project : await loadProject(db, source_project_id);
  if (source === null) return null;
  return {
    id: merge_request.id,
    iid: merge_request.iid,
    project_id: project.id,
    title: merge_request.title,
    source_branch: merge_request.source_branch,
    target_branch: merge_request.target_branch,
    source_project_id,
    source_project_path: source.full_path,
    target_project_path: project.full_path,
    base_sha: base_sha ?? '',
    labels: merge_request.labels,
    assignees: merge_request.assignees.map(({ username }) => username),
    milestone: merge_request.milestone?.title ?? null,
  };
};

/** Of a pipeline that was made for it; null: either is gone. */
export const factsOfRequest = async (db: Reader, id: number): Promise<MergeRequestFacts | null> => {
  const row = await db
    .selectFrom('merge_requests')
    .select('project_id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  const project = row === undefined ? null : await loadProject(db, row.project_id);
  return project === null ? null : await requestFacts(db, await reloadMergeRequest(db, project, id));
};

const mostNamed = 4;
/** Of one branch, hidden ones among them. */
const mostAsked = 100;

const openOf = compiled((db, { project_id, branch }: { project_id: number; branch: string }) =>
  db
    .selectFrom('merge_requests')
    .innerJoin('projects', 'projects.id', 'merge_requests.project_id')
    .select([
      'merge_requests.iid',
      'projects.id',
      'projects.full_path',
      'projects.namespace_id',
      'projects.visibility',
      'projects.deleted_at',
      'projects.repository_access_level',
      'projects.merge_requests_access_level',
    ])
    .where('source_project_id', '=', project_id)
    .where('source_branch', '=', branch)
    .where('merge_requests.state', '=', 'opened')
    .where('merge_requests.deleted_at', 'is', null)
    .where('projects.deleted_at', 'is', null)
    .orderBy('merge_requests.id', 'desc')
    .limit(mostAsked)
    .compile(),
);

/**
 * The open requests of a branch, as `CI_OPEN_MERGE_REQUESTS` names them; of those into other projects the ones that
 * the viewer, who has the jobs run, sees.
 */
export const openRequestsText = async (
  db: Reader,
  project_id: number,
  branch: string,
  viewer: Viewer = anonymous,
): Promise<string> => {
  const rows = await openOf(db, { project_id, branch });
  return rows
    .filter((target) => target.id === project_id || canSeeMergeRequests(viewer, target))
    .slice(0, mostNamed)
    .map(({ iid, full_path }) => `${full_path}!${iid}`)
    .join(',');
};
