/** Suggestions of comments, as small diffs with a button that applies them. */
import { writeUnified } from '../../../parts/diff/write_unified.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { type Cards, formPath, token } from './card_context.ts';
import type { ShownSuggestion } from './load_suggestions.ts';
import type { ShownThread } from './load_threads.ts';

/** Id of the form that applies the selected suggestions. */
const batchId = 'apply_suggestions';

/** Options for applying the suggestions of a page. */
export type SuggestionForm = {
  /** Address that applies them. */
  action: string;
  /** The hidden fields of each form. */
  fields: Html;
  /** Several can be selected, for `batchForm`. */
  canSelect: boolean;
};

/** Returns how suggestions are applied in the Changes tab. */
export const toSuggestionForm = (cards: Cards): SuggestionForm => ({
  action: formPath(cards, '/suggestions'),
  fields: token(cards),
  canSelect: true,
});

const applyPart = (
  { action, fields, canSelect }: SuggestionForm,
  { id, isApplied, mayApply }: ShownSuggestion,
): Html | null => {
  if (isApplied) return html`<span class="status ok">${icon('check-circle')} Applied</span>`;
  if (!mayApply) return null;
  const tick =
    canSelect &&
    html`<span class="tick"><input id="select_suggestion_${id}" type="checkbox" name="ids[]" value="${id}" form="${batchId}"><label for="select_suggestion_${id}">Select</label></span> `;
  return html`${tick}<form method="post" action="${action}" class="row tight">${fields}${hidden('ids[]', id)}<details><summary class="button small">Commit message</summary><div class="field"><label for="message_${id}">Commit message</label><input id="message_${id}" name="message" type="text" maxlength="1000" placeholder="Apply suggestion"></div></details><button class="small">Apply suggestion</button></form>`;
};

/** Renders the suggestions of a comment. */
export const suggestionParts = (form: SuggestionForm, suggestions: readonly ShownSuggestion[]): Html =>
  html`${suggestions.map(
    (one) =>
      html`<div class="suggestion card"><header><b>Suggested change</b><span class="end row tight">${applyPart(form, one)}</span></header>${writeUnified({ rows: one.rows, fileId: `suggestion_${one.id}`, label: 'Suggested change' })}</div>`,
  )}`;

/** Renders the form that applies the selected suggestions as one commit, where there are several. */
export const batchForm = (cards: Cards, threads: readonly ShownThread[]): Html | null => {
  const suggestions = threads.flatMap(({ notes }) => notes.flatMap((note) => note.suggestions));
  const count = suggestions.filter(({ mayApply }) => mayApply).length;
  if (count < 2) return null;
  return html`<section class="card"><details class="body"><summary>Apply several of ${count} suggestions as one commit</summary><form id="${batchId}" method="post" action="${formPath(cards, '/suggestions')}">${token(cards)}<p class="muted" id="${batchId}_hint">Select suggestions in their threads, then apply them together.</p><div class="field"><label for="${batchId}_message">Commit message</label><input id="${batchId}_message" name="message" type="text" maxlength="1000" placeholder="Apply suggestions" aria-describedby="${batchId}_hint"></div><div class="buttons"><button class="primary">Apply selected suggestions</button></div></form></details></section>`;
};
