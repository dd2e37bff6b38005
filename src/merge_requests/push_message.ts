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

/** Messages link to these pages once the web interface has them. */
const requestPage = 'GET /-/projects/:project/merge_requests/:iid';
const newRequestPage = 'GET /-/projects/:project/merge_requests/new';

type Asking = { project: Project; viewer: Viewer; baseUrl: string; hasPage: Platform['hasPage'] };

/** The address of a merge request's page; its reference (`group/project!5`) while there is no such page. */
const requestLink = (
  { baseUrl, hasPage }: Pick<Asking, 'baseUrl' | 'hasPage'>,
  projectPath: string,
  iid: number,
): string => (hasPage(requestPage) ? mergeRequestUrl(baseUrl, projectPath, iid) : `${projectPath}!${iid}`);

/** Links to those that the pusher may see. */
const linksTo = async (db: Reader, requests: OpenRequest[], asking: Asking): Promise<string[]> => {
  const links: string[] = [];
  for (const { id, project_id } of requests.slice(0, mostBranches)) {
    // oxlint-disable-next-line no-await-in-loop -- seldom more than one
    const target = await loadProject(db, project_id);
    if (target === null || !canSeeMergeRequests(asking.viewer, target)) continue;
    const row = await db // oxlint-disable-line no-await-in-loop
      .selectFrom('merge_requests')
      .select('iid')
      .where('id', '=', id)
      .executeTakeFirst();
    if (row !== undefined) links.push(requestLink(asking, target.full_path, row.iid));
  }
  return links;
};

/** Where a request from the branch would go by default: the project it was forked from, if the pusher may see it. */
const targetOf = async (db: Reader, { project, viewer }: Asking): Promise<Project | null> => {
  const { forked_from_project_id: parent } = project;
  const above = parent === null ? null : await loadProject(db, parent);
  return [above, project].find((one) => one !== null && may(viewer, 'create_merge_request_in', one)) ?? null;
};

const linesOf = async (db: Reader, branch: string, asking: Asking): Promise<string[]> => {
  const { project, viewer, baseUrl } = asking;
  const links = await linksTo(db, await openFrom(db, project.id, branch), asking);
  if (links.length > 0)
    return ['', `View merge request for ${branch}:`, ...links.map((link) => `  ${link}`), ''];
  if (!asking.hasPage(newRequestPage)) return [];
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
 * @param pushed the pushed project as it is now, who pushed, and the base of addresses
 */
export const pushMessage = async (
  { store, hasPage }: Pick<Platform, 'store' | 'hasPage'>,
  pushed: Omit<Asking, 'hasPage'>,
  updates: readonly { ref: string; new: string }[],
): Promise<string[]> => {
  const branches = updates
    .filter((update) => update.new !== zeroOid && update.ref.startsWith(branchPrefix))
    .map(({ ref }) => ref.slice(branchPrefix.length))
    .slice(0, mostBranches);
  const asking = { ...pushed, hasPage };
  const lines = await Promise.all(branches.map((branch) => linesOf(store.db, branch, asking)));
  return lines.flat();
};
