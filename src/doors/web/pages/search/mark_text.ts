import { type Html, html } from '../../parts/html.ts';

const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** Renders a text with each place of these terms marked, in any case. */
export const markText = (text: string, terms: readonly string[]): Html => {
  const patterns = terms.filter((term) => term !== '').map(escapePattern);
  if (patterns.length === 0) return html`${text}`;
  const pieces = text.split(new RegExp(`(${patterns.join('|')})`, 'giu'));
  return html`${pieces.map((piece, at) => (at % 2 === 1 ? html`<mark>${piece}</mark>` : piece))}`;
};
