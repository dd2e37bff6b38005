/** The table of contents of a text, in place of a paragraph `[[_TOC_]]` or `[TOC]`. */
import type { StateCore, Token } from 'markdown-it';
import { escapeHtml } from '../../../../platform/escape_html.ts';
import { replaceEmoji } from '../emoji.ts';
import { readText } from '../headings.ts';

const marker = /^(?:\[\[_TOC_\]\]|\[TOC\])$/i;

type Heading = { level: number; id: string; title: string };

const listHeadings = (tokens: readonly Token[]): Heading[] =>
  tokens.flatMap((token, at) => {
    const id = token.type === 'heading_open' ? token.attrGet('id') : null;
    if (typeof id !== 'string') return [];
    return [{ level: Number(token.tag.slice(1)), id, title: readText(tokens[at + 1]?.children ?? []) }];
  });

/** Writes nested lists. A heading is an entry below the last one of a higher rank, also where a rank is left out. */
const writeLists = (headings: readonly Heading[]): string => {
  const ranks: number[] = [];
  const parts: string[] = [];
  for (const { level, id, title } of headings) {
    while (ranks.length > 1 && level <= (ranks.at(-2) ?? 0)) {
      parts.push('</li></ul>');
      ranks.pop();
    }
    if (level > (ranks.at(-1) ?? 0)) parts.push(ranks.length === 0 ? '<ul class="section-nav">' : '<ul>');
    else {
      parts.push('</li>');
      ranks.pop();
    }
    ranks.push(level);
    parts.push(`<li><a href="#${escapeHtml(id)}">${escapeHtml(replaceEmoji(title))}</a>`);
  }
  parts.push('</li></ul>'.repeat(ranks.length));
  return `${parts.join('')}\n`;
};

const isMarker = (tokens: readonly Token[], at: number): boolean => {
  const [open, inline] = tokens.slice(at, at + 2);
  if (open?.type !== 'paragraph_open' || open.level !== 0 || inline === undefined) return false;
  // With a definition of this name it is a link.
  return marker.test(inline.content.trim()) && !inline.children?.some(({ type }) => type === 'link_open');
};

/** Rule of the parser, after headings have their ids. Only the first is filled, so that a text grows linearly. */
export const writeTableOfContents = (state: StateCore): void => {
  const { tokens } = state;
  const at = /\[_?TOC_?\]/i.test(state.src)
    ? tokens.findIndex((_token, index) => isMarker(tokens, index))
    : -1;
  if (at === -1) return;
  const list = new state.Token('html_block', '', 0);
  const headings = listHeadings(tokens);
  list.content = headings.length === 0 ? '' : writeLists(headings);
  list.block = true;
  state.tokens = [...tokens.slice(0, at), list, ...tokens.slice(at + 3)];
};
