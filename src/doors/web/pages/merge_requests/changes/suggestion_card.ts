/** Suggestions of comments, as small differences with a button that applies them. */
import { writeUnified } from '../../../parts/diff/write_unified.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type Cards, formPath, token } from './card_context.ts';
import type { ShownSuggestion } from './load_suggestions.ts';

/** Renders the suggestions of a comment. */
export const suggestionParts = (
  cards: Cards,
  noteId: number,
  suggestions: readonly ShownSuggestion[],
): Html =>
  html`${suggestions.map(({ index, rows, mayApply }) => {
    const fileId = `suggestion_${noteId}_${index}`;
    const apply =
      mayApply &&
      html`<form method="post" action="${formPath(cards, '/suggestions')}">${token(cards)}${hidden('note', noteId)}${hidden('index', index)}<button class="small">Apply suggestion</button></form>`;
    return html`<div class="suggestion card"><header><b>Suggested change</b><span class="end">${apply}</span></header>${writeUnified({ rows, fileId, label: 'Suggested change' })}</div>`;
  })}`;
