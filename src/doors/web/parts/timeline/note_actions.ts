/** Renders the actions in the heading of a comment, quote and edit, as links. The script opens both in the page. */
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';

type Note = { id: number; author: { name: string }; mayAdmin: boolean };

/** @param options `path` builds a URL below the record's URL */
export const noteActions = (
  { id, author, mayAdmin }: Note,
  { path, mayQuote }: { path: (below: string) => string; mayQuote: boolean },
): Html => {
  const quote =
    mayQuote &&
    html`<a class="icon-link" href="${path(`/notes/${id}/quote`)}" data-quote aria-label="Quote the comment of ${author.name} in a reply" title="Quote in a reply">${icon('quote')}</a>`;
  const edit =
    mayAdmin &&
    html`<a class="icon-link" href="${path(`/notes/${id}/edit`)}" data-edit="note_${id}" aria-label="Edit the comment of ${author.name}" title="Edit">${icon('pencil')}</a>`;
  return html`${quote}${edit}`;
};
