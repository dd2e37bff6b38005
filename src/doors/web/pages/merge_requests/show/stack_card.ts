/** The card of the stack that a merge request is part of. */
import type { Visit } from '../../../page.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { isWorkInProgress } from '../../../../../planning/issuables/text/draft_title.ts';
import { isMergeable } from '../../../../../review/merge_requests/merging/merge_checks.ts';
import type { StackedRequest } from '../../../../../review/merge_requests/stacks/load_stack.ts';
import { readinessPart } from '../list/request_row.ts';
import { requestPath, requestsPath } from '../paths.ts';
import type { RequestPage } from './load_overview.ts';

const hereRow = ({ iid, title, source_branch, target_branch }: StackedRequest): Html =>
  html`<li aria-current="true"><b>!${iid} ${title}</b> <span class="muted small"><code>${source_branch}</code> into <code>${target_branch}</code></span></li>`;

/** Renders another request of the stack, with what keeps it from being merged. */
const row = (visit: Visit, { loaded, stack }: RequestPage, one: StackedRequest): Html => {
  const { id, iid, title, source_branch, target_branch, merge_status } = one;
  const draft =
    isWorkInProgress(title) && html`<span class="status off" title="Draft">${icon('pencil')} Draft</span>`;
  const readiness = readinessPart(
    { has_conflicts: merge_status === 'cannot_be_merged' },
    { facts: stack.facts.get(id), isAnonymous: !visit.call.signedIn },
  );
  return html`<li><a href="${requestsPath(loaded.project)}/${iid}">!${iid} ${title}</a> <span class="muted small"><code>${source_branch}</code> into <code>${target_branch}</code></span> <span class="readiness small">${draft}${readiness}</span></li>`;
};

const reasons = {
  draft: 'is a draft',
  conflict: 'has conflicts',
  changes_requested: 'has a reviewer who requested changes',
  forbidden: 'is one that you may not merge',
  checks: 'cannot be merged yet',
} as const;

/** Says why the stack cannot be merged from here. */
const obstaclePart = ({ loaded, stack: { obstacle } }: RequestPage): Html | null => {
  if (obstacle === null) return null;
  if (obstacle.reason === 'too_many') {
    return html`<p class="body muted small">The stack cannot be merged from here: more than ${obstacle.most} merge requests are below.</p>`;
  }
  const { iid, reason } = obstacle;
  const name =
    iid === loaded.merge_request.iid
      ? html`this one`
      : html`<a href="${requestsPath(loaded.project)}/${iid}">!${iid}</a>`;
  return html`<p class="body muted small">The stack cannot be merged from here: ${name} ${reasons[reason]}.</p>`;
};

const mergeForm = (visit: Visit, { loaded, checks, stack }: RequestPage): Html | null => {
  const { merge_request } = loaded;
  const { mergeableBelow } = stack;
  if (checks === null || mergeableBelow.length === 0 || !checks.mayMerge || !isMergeable(checks)) return null;
  const shas = [...mergeableBelow, merge_request].map(({ head_sha }) => head_sha ?? '');
  const names = mergeableBelow.map(({ iid }) => `!${iid}`).join(', ');
  const into = mergeableBelow[0]?.target_branch ?? '';
  return html`<form method="post" action="${requestPath(loaded, '/merge_stack')}" class="body">${hidden(
    'authenticity_token',
    visit.csrfToken(),
  )}${hidden('shas', shas.join(','))}<button>Merge ${names} and this one into ${into}</button></form>`;
};

/** Renders the stack, topmost first; null if the stack has only this merge request. */
export const stackCard = (visit: Visit, shown: RequestPage): Html | null => {
  const { loaded, stack } = shown;
  const { below, above } = stack;
  if (below.length + above.length === 0) return null;
  const rows = [
    ...above.toReversed().map((one) => row(visit, shown, one)),
    hereRow(loaded.merge_request),
    ...below.map((one) => row(visit, shown, one)),
  ];
  return html`<section class="card stack-card" aria-labelledby="stack_title"><header><h2 id="stack_title">Stack</h2><span class="muted small end">each is merged after the requests below it</span></header><ol class="body" reversed>${rows}</ol>${mergeForm(visit, shown) ?? obstaclePart(shown)}</section>`;
};
