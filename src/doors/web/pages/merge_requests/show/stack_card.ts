/** The card of the stack that a merge request is part of. */
import type { Visit } from '../../../page.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { isMergeable } from '../../../../../review/merge_requests/merging/merge_checks.ts';
import type { StackedRequest } from '../../../../../review/merge_requests/stacks/load_stack.ts';
import { requestPath, requestsPath } from '../paths.ts';
import type { RequestPage } from './load_overview.ts';

const row = (
  list: string,
  { iid, title, source_branch, target_branch }: StackedRequest,
  isHere: boolean,
): Html => {
  const name = html`!${iid} ${title}`;
  return html`<li${isHere && html` aria-current="true"`}>${isHere ? html`<b>${name}</b>` : html`<a href="${list}/${iid}">${name}</a>`} <span class="muted small"><code>${source_branch}</code> into <code>${target_branch}</code></span></li>`;
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
  const list = requestsPath(loaded.project);
  const rows = [
    ...above.toReversed().map((one) => row(list, one, false)),
    row(list, loaded.merge_request, true),
    ...below.map((one) => row(list, one, false)),
  ];
  return html`<section class="card stack-card" aria-labelledby="stack_title"><header><h2 id="stack_title">Stack</h2><span class="muted small end">each is merged after the requests below it</span></header><ol class="body" reversed>${rows}</ol>${mergeForm(visit, shown)}</section>`;
};
