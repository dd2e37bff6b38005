/** Collects the merge request data that a pipeline's variables and rules use. */
import { type Viewer, anonymous } from '../../../core/access/viewer.ts';
import { canSeeMergeRequests } from '../../../core/access/visible.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { LoadedMergeRequest } from '../../../review/merge_requests/find.ts';
import { reloadMergeRequest } from '../../../review/merge_requests/find.ts';
import { findFinalTarget } from '../../../review/merge_requests/stacks/load_stack.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import type { MergeRequestFacts } from '../predefined_variables/pipeline_predefined.ts';

export const mergeRequestRefFor = (iid: number): string => `refs/merge-requests/${iid}/head`;

/** Converts a loaded merge request; null if its source project is gone. */
export const toMergeRequestFacts = async (
  db: Reader,
  loaded: Pick<LoadedMergeRequest, 'merge_request' | 'project'>,
): Promise<MergeRequestFacts | null> => {
  const { merge_request, project } = loaded;
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
    target_branch: await findFinalTarget(db, loaded),
    source_project_id,
    source_project_path: source.full_path,
    target_project_path: project.full_path,
    base_sha: base_sha ?? '',
    labels: merge_request.labels,
    assignees: merge_request.assignees.map(({ username }) => username),
    milestone: merge_request.milestone?.title ?? null,
  };
};

/** Loads the data of a pipeline's merge request; null if it or its source project is gone. */
export const loadMergeRequestFacts = async (db: Reader, id: number): Promise<MergeRequestFacts | null> => {
  const row = await db
    .selectFrom('merge_requests')
    .select('project_id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  const project = row === undefined ? null : await loadProject(db, row.project_id);
  return project === null ? null : await toMergeRequestFacts(db, await reloadMergeRequest(db, project, id));
};

const maxListedRequests = 4;
/** Merge requests read per branch, including merge requests that the viewer cannot see. */
const maxScannedRequests = 100;

const selectOpenRequests = compiled((db, { project_id, branch }: { project_id: number; branch: string }) =>
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
    .limit(maxScannedRequests)
    .compile(),
);

/**
 * Returns the value of `CI_OPEN_MERGE_REQUESTS` for a branch. Merge requests into other projects are listed only if the
 * viewer can see them.
 */
export const loadOpenRequestsText = async (
  db: Reader,
  project_id: number,
  branch: string,
  viewer: Viewer = anonymous,
): Promise<string> => {
  const rows = await selectOpenRequests(db, { project_id, branch });
  return rows
    .filter((target) => target.id === project_id || canSeeMergeRequests(viewer, target))
    .slice(0, maxListedRequests)
    .map(({ iid, full_path }) => `${full_path}!${iid}`)
    .join(',');
};
