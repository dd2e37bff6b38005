/** What one who pushed a branch is told of merge requests. */
import type { Platform } from '../access/call.ts';
import type { Viewer } from '../access/viewer.ts';
import { may } from '../access/may.ts';
import { canSeeMergeRequests } from '../access/visible.ts';
import { zeroOid } from '../git/protocol_types.ts';
import type { Reader } from '../db/open.ts';
import { type Project, loadProject } from '../projects/find.ts';
import { branchPrefix } from '../repository/resolve.ts';
import { mergeRequestUrl } from './json.ts';
import { type OpenRequest, openFrom } from './open_requests.ts';

/** Branches of one push that something is said of. */
const mostBranches = 5;

type Asking = { project: Project; viewer: Viewer; baseUrl: string };

/** Addresses of those that the pusher may see. */
const urlsOf = async (
  db: Reader,
  requests: OpenRequest[],
  { viewer, baseUrl }: Asking,
): Promise<string[]> => {
  const urls: string[] = [];
  for (const { id, project_id } of requests.slice(0, mostBranches)) {
    // oxlint-disable-next-line no-await-in-loop -- seldom more than one
    const target = await loadProject(db, project_id);
    if (target === null || !canSeeMergeRequests(viewer, target)) continue;
    const row = await db // oxlint-disable-line no-await-in-loop
      .selectFrom('merge_requests')
      .select('iid')
      .where('id', '=', id)
      .executeTakeFirst();
    if (row !== undefined) urls.push(mergeRequestUrl(baseUrl, target.full_path, row.iid));
  }
  return urls;
};

/** Where a request from the branch would go by default: the project it was forked from, if the pusher may see it. */
const targetOf = async (db: Reader, { project, viewer }: Asking): Promise<Project | null> => {
  const { forked_from_project_id: parent } = project;
  const above = parent === null ? null : await loadProject(db, parent);
  return [above, project].find((one) => one !== null && may(viewer, 'create_merge_request_in', one)) ?? null;
};

const linesOf = async (db: Reader, branch: string, asking: Asking): Promise<string[]> => {
  const { project, viewer, baseUrl } = asking;
  const urls = await urlsOf(db, await openFrom(db, project.id, branch), asking);
  if (urls.length > 0) return ['', `View merge request for ${branch}:`, ...urls.map((url) => `  ${url}`), ''];
  const target = await targetOf(db, asking);
  const isDefault = branch === project.default_branch && target?.id === project.id;
  if (target === null || isDefault || project.default_branch === null) return [];
  if (!may(viewer, 'create_merge_request_from', project)) return [];
  const query = `merge_request%5Bsource_branch%5D=${encodeURIComponent(branch)}`;
  const url = `${baseUrl}/${project.full_path}/merge_requests/new?${query}`;
  return ['', `To create a merge request for ${branch}, visit:`, `  ${url}`, ''];
};

/**
 * Lines for the pusher: the open request of each branch that he pushed, or where to make one.
 * @param asking the pushed project as it is now, who pushed, and the base of addresses
 */
export const pushMessage = async (
  { store }: Pick<Platform, 'store'>,
  asking: Asking,
  updates: readonly { ref: string; new: string }[],
): Promise<string[]> => {
  const branches = updates
    .filter((update) => update.new !== zeroOid && update.ref.startsWith(branchPrefix))
    .map(({ ref }) => ref.slice(branchPrefix.length))
    .slice(0, mostBranches);
  const lines = await Promise.all(branches.map((branch) => linesOf(store.db, branch, asking)));
  return lines.flat();
};
