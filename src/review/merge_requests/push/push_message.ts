/** Builds the messages about merge requests that a push prints. */
import type { Platform } from '../../../core/platform.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import { may } from '../../../core/access/may.ts';
import { canSeeMergeRequests } from '../../../core/access/visible.ts';
import { zeroOid } from '../../../platform/git/protocol_types.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import { branchPrefix } from '../../../code/repository/refs/resolve.ts';
import { mergeRequestUrl } from '../web_url.ts';
import { listTargets } from '../list_targets.ts';
import { type OpenRequest, loadOpenFrom } from '../refresh/open_requests.ts';

/** Maximum number of branches per push with a message. */
const maxBranches = 5;

/** Pages of the web interface that messages link to, if they exist. */
const requestPage = 'GET /-/projects/:project/merge_requests/:iid';
const newRequestPage = 'GET /-/projects/:project/merge_requests/new';

type MessageRequest = { project: Project; viewer: Viewer; baseUrl: string; hasPage: Platform['hasPage'] };

/** Returns the URL of a merge request, or its reference (`group/project!5`) if there is no page. */
const requestLink = (
  { baseUrl, hasPage }: Pick<MessageRequest, 'baseUrl' | 'hasPage'>,
  projectPath: string,
  iid: number,
): string => (hasPage(requestPage) ? mergeRequestUrl(baseUrl, projectPath, iid) : `${projectPath}!${iid}`);

/** Returns links to the requests that the pusher may see. */
const loadVisibleLinks = async (
  db: Reader,
  requests: OpenRequest[],
  asking: MessageRequest,
): Promise<string[]> => {
  const links: string[] = [];
  for (const { id, project_id } of requests.slice(0, maxBranches)) {
    const target = await loadProject(db, project_id);
    if (target === null || !canSeeMergeRequests(asking.viewer, target)) continue;
    const row = await db.selectFrom('merge_requests').select('iid').where('id', '=', id).executeTakeFirst();
    if (row !== undefined) links.push(requestLink(asking, target.full_path, row.iid));
  }
  return links;
};

const getBranchLines = async (db: Reader, branch: string, asking: MessageRequest): Promise<string[]> => {
  const { project, viewer, baseUrl } = asking;
  const links = await loadVisibleLinks(db, await loadOpenFrom(db, project.id, branch), asking);
  if (links.length > 0)
    return ['', `View merge request for ${branch}:`, ...links.map((link) => `  ${link}`), ''];
  if (!asking.hasPage(newRequestPage)) return [];
  const [target = null] = await listTargets({ db, viewer }, project);
  const isDefault = branch === project.default_branch && target?.id === project.id;
  if (target === null || isDefault || project.default_branch === null) return [];
  if (!may(viewer, 'create_merge_request_from', project)) return [];
  const query = `merge_request%5Bsource_branch%5D=${encodeURIComponent(branch)}`;
  const url = `${baseUrl}/${project.full_path}/merge_requests/new?${query}`;
  return ['', `To create a merge request for ${branch}, visit:`, `  ${url}`, ''];
};

/**
 * Returns lines for the pusher: for each pushed branch its open requests, or the URL to create one.
 * @param pushed the pushed project, the pusher and the base URL of links
 */
export const pushMessage = async (
  { store, hasPage }: Pick<Platform, 'store' | 'hasPage'>,
  pushed: Omit<MessageRequest, 'hasPage'>,
  updates: readonly { ref: string; new: string }[],
): Promise<string[]> => {
  if (pushed.project.printing_merge_request_link_enabled === 0) return [];
  const branches = updates
    .filter((update) => update.new !== zeroOid && update.ref.startsWith(branchPrefix))
    .map(({ ref }) => ref.slice(branchPrefix.length))
    .slice(0, maxBranches);
  const asking = { ...pushed, hasPage };
  const lines = await Promise.all(branches.map((branch) => getBranchLines(store.db, branch, asking)));
  return lines.flat();
};
