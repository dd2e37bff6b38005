/** The menu that ends a review: a summary and a verdict. The Changes tab and the overview have it. */
import { mayApprove } from '../../../../../review/merge_requests/approvals/approvals.ts';
import type { Verdict } from '../../../../../review/merge_requests/drafts/submit_review.ts';
import type { LoadedMergeRequest } from '../../../../../review/merge_requests/find.ts';
import type { Visit } from '../../../page.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { markdownEditor } from '../../../parts/markdown_editor.ts';

/** What the review is about. */
export type Reviewed = {
  visit: Visit;
  loaded: LoadedMergeRequest;
  /** Address of the form. */
  action: string;
  /** The commit that the page shows; null: there is none yet. */
  head: string | null;
  mayComment: boolean;
  /** Number of pending comments of the viewer. */
  drafts: number;
};

export type ReviewFormState = {
  /** Problems of the refused review. */
  problem?: string;
  /** Summary and verdict that were not accepted. */
  summary?: string;
  verdict?: Verdict;
};

const verdictField = (
  value: Verdict,
  chosen: Verdict,
  [label, hint]: readonly [label: string, hint: string],
): Html =>
  html`<div class="field check"><input id="verdict_${value}" type="radio" name="verdict" value="${value}"${
    value === chosen && html` checked`
  } aria-describedby="verdict_${value}_hint"><label for="verdict_${value}">${label}</label><p class="hint" id="verdict_${value}_hint">${hint}</p></div>`;

const publishedText = (drafts: number): string => {
  if (drafts === 0) return 'Publish the summary.';
  return drafts === 1
    ? 'Publish the summary and one pending comment.'
    : `Publish the summary and ${drafts} pending comments.`;
};

const reviewForm = (
  { visit, loaded, action, head, drafts }: Reviewed,
  { problem, summary = '', verdict = 'comment' }: ReviewFormState,
): Html => {
  const alert = problem !== undefined && html`<p class="flash alert" role="alert">${problem}</p>`;
  const judged =
    mayApprove(visit.call, loaded) &&
    html`${verdictField('approve', verdict, ['Approve', 'Publish, and approve the merge.'])}${verdictField('request_changes', verdict, ['Request changes', 'Publish, and block the merge until you approve or your review is requested again.'])}`;
  const editor = markdownEditor({
    name: 'summary',
    id: 'review_summary',
    label: 'Summary',
    rows: 4,
    value: summary,
    project: loaded.project,
    actions: 'merge_request',
  });
  return html`<form method="post" action="${action}">${alert}${hidden('authenticity_token', visit.csrfToken())}${hidden('head', head ?? '')}${editor}
<fieldset><legend class="visually-hidden">Verdict</legend>${verdictField('comment', verdict, ['Comment', publishedText(drafts)])}${judged}</fieldset>
<div class="buttons"><button class="primary">Submit review</button></div></form>`;
};

/**
 * Renders the menu for users who can comment or approve.
 * @param name of the button
 */
export const reviewMenu = (
  reviewed: Reviewed,
  state: ReviewFormState = {},
  name = 'Finish review',
): Html | null => {
  const { visit, loaded, mayComment, drafts } = reviewed;
  if (!visit.call.signedIn || (!mayComment && !mayApprove(visit.call, loaded))) return null;
  const count = drafts > 0 && html` <span class="count" aria-label="${drafts} pending">${drafts}</span>`;
  return html`<details class="menu review-menu"${state.problem !== undefined && html` open`}><summary class="button primary" data-key="R" data-key-name="Finish the review">${name}${count}</summary><div class="panel">${reviewForm(reviewed, state)}</div></details>`;
};
