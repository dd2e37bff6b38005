/** Replaces the merge box of a merged or closed merge request. */
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { may } from '../../../../../core/access/may.ts';
import type { Visit } from '../../../page.ts';
import { commitLink } from '../../../parts/code/commit_line.ts';
import { pickForms } from '../../../parts/code/pick_form.ts';
import { button } from '../../../parts/frame/project_layout.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { relative } from '../../../parts/timestamp.ts';
import { requestPath } from '../paths.ts';
import { afterMergePart } from './after_merge.ts';
import type { RequestPage } from './load_overview.ts';

/** Returns the commit that has the whole change; null if its commits are on the target branch one by one. */
export const wholeCommit = (
  { merge_commit_sha, squash_commit_sha, head_sha }: LoadedMergeRequest['merge_request'],
  commits: number,
): string | null => {
  const isWhole = squash_commit_sha !== null || merge_commit_sha !== head_sha || commits === 1;
  return isWhole ? merge_commit_sha : null;
};

const picksPart = (visit: Visit, { loaded }: RequestPage, commits: number): Html | null => {
  const { project, merge_request } = loaded;
  const { signedIn, viewer } = visit.call;
  if (!signedIn || !may(viewer, 'push_code', project)) return null;
  if (wholeCommit(merge_request, commits) === null) {
    return html`<p class="body muted">Its ${commits} commits are on the branch one by one, so it cannot be reverted or cherry-picked as a whole. <a href="${requestPath(loaded, '/commits')}">Choose one of its commits</a></p>`;
  }
  const forms = pickForms(visit, {
    projectId: loaded.project.id,
    path: requestPath(loaded),
    branch: merge_request.target_branch,
  });
  return html`<div class="merge-form">${forms}</div>`;
};

const mergedBox = async (visit: Visit, shown: RequestPage, commits: number): Promise<Html> => {
  const { project, merge_request } = shown.loaded;
  const { merged_by, merged_at, merge_commit_sha: sha, target_branch } = merge_request;
  const commit =
    sha !== null &&
    html` as ${commitLink(project, { id: sha, text: html`<code>${sha.slice(0, 8)}</code>` })}`;
  return html`<section class="card merge-box done" aria-labelledby="merge_box_title"><header>${icon('merge-request')}<h2 id="merge_box_title">Merged${merged_by !== null && ` by ${merged_by.name}`}</h2><span class="muted small">${merged_at !== null && relative(merged_at)} into <code>${target_branch}</code>${commit}</span></header>${await afterMergePart(visit, shown)}${picksPart(visit, shown, commits)}</section>`;
};

const closedBox = (visit: Visit, { loaded, rights }: RequestPage): Html => {
  const { closed_by, closed_at } = loaded.merge_request;
  const reopen =
    rights.update && button(visit, requestPath(loaded, '?state_event=reopen'), { label: 'Reopen' });
  return html`<section class="card merge-box blocked" aria-labelledby="merge_box_title"><header>${icon('cross-circle')}<h2 id="merge_box_title">Closed${closed_by !== null && ` by ${closed_by.name}`}</h2><span class="muted small">${closed_at !== null && relative(closed_at)} without being merged</span><span class="end">${reopen}</span></header></section>`;
};

export const endedBox = async (visit: Visit, shown: RequestPage, commits: number): Promise<Html> => {
  const { state } = shown.loaded.merge_request;
  if (state === 'merged') return await mergedBox(visit, shown, commits);
  return state === 'closed' ? closedBox(visit, shown) : html``;
};
