/** The card of branches to which the user pushed lately, with the way to their merge requests. */
import { may } from '../../../../core/access/may.ts';
import { type RecentPush, listRecentPushes } from '../../../events/recent_pushes.ts';
import type { Visit } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { relative } from '../../parts/timestamp.ts';

const newRequestPage = 'merge_requests/new';

/** Renders the link to the merge request, or to a form for one. */
const requestLink = ({ call }: Visit, { project, branch, request }: RecentPush): Html | null => {
  if (request !== null) {
    const { iid, full_path } = request;
    return html`<a href="/${full_path}/merge_requests/${iid}">Merge request !${iid}</a>`;
  }
  const hasPage = call.platform.hasPage(`GET /-/projects/:project/${newRequestPage}`);
  if (!hasPage || !may(call.viewer, 'create_merge_request_in', project)) return null;
  const query = new URLSearchParams({ 'merge_request[source_branch]': branch }).toString();
  return html`<a class="button small" href="${projectPagePath(project, newRequestPage)}?${query}" aria-label="Create merge request for ${branch}">Create merge request</a>`;
};

const item = (visit: Visit, push: RecentPush): Html => {
  const { project, branch, pushed_at } = push;
  return html`<li><span class="lead">${icon('branch')}</span>
<a class="title" href="${codePath(project, 'tree', branch)}" data-row>${branch}</a>
<span class="meta"><span>${project.full_path}</span><span>pushed ${relative(pushed_at)}</span></span>
<span class="side">${requestLink(visit, push)}</span></li>
`;
};

/** Renders the card; null: nothing was pushed lately. */
export const pushesCard = async (visit: Visit): Promise<Html | null> => {
  const pushes = await listRecentPushes(visit.call);
  if (pushes.length === 0) return null;
  return html`<section class="card"><header>${icon('branch')}<h2>Recent pushes</h2></header><ul class="list">${pushes.map((push) => item(visit, push))}</ul></section>
`;
};
