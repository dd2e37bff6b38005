/** The card of branches to which the user pushed lately, with the way to their merge requests. */
import { type RecentPush, listRecentPushes } from '../../../events/recent_pushes.ts';
import type { Visit } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { relative } from '../../parts/timestamp.ts';
import { canProposeBranches, newRequestPath } from '../merge_requests/new_request_links.ts';

/** Renders the link to the merge request, or to a form for one. */
const requestLink = async (visit: Visit, { project, branch, request }: RecentPush): Promise<Html | null> => {
  if (request !== null) {
    const { iid, full_path } = request;
    return html`<a href="/${full_path}/merge_requests/${iid}">Merge request !${iid}</a>`;
  }
  if (!(await canProposeBranches(visit, project))) return null;
  return html`<a class="button small" href="${newRequestPath(project, { source_branch: branch })}" aria-label="Create merge request for ${branch}">Create merge request</a>`;
};

const item = async (visit: Visit, push: RecentPush): Promise<Html> => {
  const { project, branch, pushed_at } = push;
  return html`<li><span class="lead">${icon('branch')}</span>
<a class="title" href="${codePath(project, 'tree', branch)}" data-row>${branch}</a>
<span class="meta"><span>${project.full_path}</span><span>pushed ${relative(pushed_at)}</span></span>
<span class="side">${await requestLink(visit, push)}</span></li>
`;
};

/** Renders the card; null: nothing was pushed lately. @returns isComplete: false if a storage did not answer */
export const pushesCard = async (visit: Visit): Promise<{ card: Html | null; isComplete: boolean }> => {
  const { pushes, isComplete } = await listRecentPushes(visit.call);
  const card =
    pushes.length === 0
      ? null
      : html`<section class="card"><header>${icon('branch')}<h2>Recent pushes</h2></header><ul class="list">${await Promise.all(pushes.map(async (push) => await item(visit, push)))}</ul></section>
`;
  return { card, isComplete };
};
