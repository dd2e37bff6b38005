/** Renders a branch: its name, last commit, and how it differs from the default branch. */
import type { branchesJson } from '../../../../code/repository/branches/json.ts';
import type { PipelineRow } from '../../../../code/repository/statuses/pipeline_summary.ts';
import type { Divergence } from '../../../../platform/git/protocol_types.ts';
import type { OpenRequest } from '../../../../review/merge_requests/lists/open_of_branches.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { may } from '../../../../core/access/may.ts';
import type { Visit } from '../../page.ts';
import { codePath } from '../../parts/code/code_path.ts';
import { commitLink, pipelineStatus } from '../../parts/code/commit_line.ts';
import { type CommitPeople, authorName } from '../../parts/code/commit_people.ts';
import { form, hidden } from '../../parts/form.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { menu } from '../../parts/menu.ts';
import { relative } from '../../parts/timestamp.ts';
import { newRequestPath } from '../merge_requests/new_request_links.ts';

export type BranchLine = {
  branch: Awaited<ReturnType<typeof branchesJson>>[number];
  divergence: Divergence | null;
  /** Latest pipeline of its commit. */
  pipeline: PipelineRow | undefined;
  /** The viewer may open a merge request for it. */
  canPropose: boolean;
  people: CommitPeople;
  /** Open merge request of the branch that the viewer sees. */
  request?: OpenRequest | undefined;
};

const requestLink = ({ request }: BranchLine): Html | null =>
  request === undefined
    ? null
    : html`<a href="/${request.full_path}/merge_requests/${request.iid}" title="Open merge request">${icon('merge-request', 'Open merge request')} !${request.iid}</a>`;

const badges = ({ branch }: BranchLine): Html =>
  html`${branch.default && html` <span class="badge">Default</span>`}${
    branch.protected && html` <span class="badge">${icon('shield')} Protected</span>`
  }${branch.merged && html` <span class="badge">${icon('check')} Merged</span>`}`;

const divergenceText = ({ branch, divergence }: BranchLine): Html | null =>
  divergence === null || branch.default
    ? null
    : html`<span title="Compared with the default branch">${divergence.behind} behind · ${divergence.ahead} ahead</span>`;

const encoded = (name: string): string => name.split('/').map(encodeURIComponent).join('/');

/** Links to the actions on a branch whose pages exist. */
const actionLinks = (
  { call }: Visit,
  project: Project,
  { branch, canPropose, request }: BranchLine,
): Html[] => {
  const { default_branch: target } = project;
  const { hasPage } = call.platform;
  if (target === null || branch.default) return [];
  const links: Html[] = [];
  if (hasPage('GET /-/projects/:project/compare/:rest')) {
    const path = projectPagePath(project, `compare/${encoded(target)}...${encoded(branch.name)}`);
    links.push(html`<a href="${path}">${icon('code')} Compare</a>`);
  }
  if (canPropose && request === undefined) {
    const path = newRequestPath(project, { source_branch: branch.name });
    links.push(html`<a href="${path}">${icon('merge-request')} New merge request</a>`);
  }
  return links;
};

const deleteForm = (visit: Visit, project: Project, { branch }: BranchLine): Html | null =>
  branch.can_push && !branch.default && !branch.protected
    ? form(
        visit,
        {
          action: projectPagePath(project, 'branches/delete'),
          submit: 'Delete branch',
          name: `Delete the branch ${branch.name}`,
          danger: true,
        },
        html`${hidden('branch', branch.name)}${hidden('back', visit.path)}`,
      )
    : null;

/** Renders the reason why a branch cannot be deleted by a user who can delete others. */
const protectedNote = (
  { call: { viewer } }: Visit,
  project: Project,
  { branch }: BranchLine,
): Html | null => {
  if (!branch.protected || branch.default || !may(viewer, 'push_code', project)) return null;
  const settings = html`<a href="${projectPagePath(project, 'protected_branches')}">${icon('shield')} Protected branches</a>`;
  return html`<p class="muted">Protected branches cannot be deleted. Remove the protection first.</p>${may(viewer, 'admin_protected_ref', project) && settings}`;
};

const actions = (visit: Visit, project: Project, line: BranchLine): Html | null => {
  const links = actionLinks(visit, project, line);
  const removal = deleteForm(visit, project, line) ?? protectedNote(visit, project, line);
  if (links.length === 0 && removal === null) return null;
  const label = `Actions for ${line.branch.name}`;
  return menu({ summary: icon('dots'), label, classes: 'button small' }, html`${links}${removal}`);
};

/** Renders a branch as an item of a list. */
export const branchItem = (visit: Visit, project: Project, line: BranchLine): Html => {
  const { name, commit } = line.branch;
  return html`<li><span class="lead">${icon('branch')}</span>
<div class="title row"><a href="${codePath(project, 'tree', name)}">${name}</a>${badges(line)}</div>
<div class="meta">${
    commit !== null &&
    html`<span>${commitLink(project, { id: commit.id, text: html`<code>${commit.short_id}</code>` })} ${commit.title}</span><span>${authorName(line.people, { name: commit.author_name, email: commit.author_email })} · ${relative(Date.parse(commit.committed_date))}</span>`
  }</div>
<div class="side">${requestLink(line)}${line.pipeline !== undefined && pipelineStatus(project, line.pipeline)}${divergenceText(line)}${actions(visit, project, line)}</div>
</li>
`;
};
