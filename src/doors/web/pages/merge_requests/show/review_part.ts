/** The viewer's review on the overview: their pending comments, and the menu that finishes it. */
import { spellCount } from '../../../../../platform/spell_count.ts';
import type { Visit } from '../../../page.ts';
import { type Html, html } from '../../../parts/html.ts';
import { reviewMenu } from '../changes/review_menu.ts';
import { requestPath } from '../paths.ts';
import type { RequestPage } from './load_overview.ts';

const pendingText = ({ loaded, drafts }: RequestPage): Html =>
  html`<span><a href="${requestPath(loaded, '/diffs')}">${spellCount(drafts, 'comment')}</a> ${drafts === 1 ? 'is' : 'are'} pending <span class="muted">· only you see ${drafts === 1 ? 'it' : 'them'} until you finish the review</span></span>`;

/** Renders the part; null if the viewer can add nothing, or there is nothing left to review. */
export const reviewPart = (visit: Visit, shown: RequestPage): Html | null => {
  const { loaded, drafts, rights } = shown;
  const { state, head_sha: head } = loaded.merge_request;
  if (state !== 'opened' && drafts === 0) return null;
  const action = requestPath(loaded, '/diffs/review');
  const menu = reviewMenu(
    { visit, loaded, action, head, mayComment: rights.comment, drafts },
    {},
    drafts === 0 ? 'Review' : 'Finish review',
  );
  if (menu === null) return null;
  return html`<div class="row between">${drafts > 0 && pendingText(shown)}<span class="end">${menu}</span></div>`;
};
