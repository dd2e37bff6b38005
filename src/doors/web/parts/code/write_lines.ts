/** Writes numbered lines of code as a table. Plain strings: a file has thousands of lines. */
import { escapeHtml } from '../../../../platform/escape_html.ts';
import { type Html, html, trusted } from '../html.ts';

type CodeLines = {
  /** Markup of the lines on this page. */
  lines: readonly Html[];
  /** Number of the first line. */
  first: number;
  /** Lines of a full page. */
  size: number;
  /** Lines of the file. */
  total: number;
  /** Set when a page shows several files: the prefix of the anchors of the lines, and the name of the file. */
  oneOfSeveral?: { idPrefix: string; name: string } | undefined;
};

/** Characters of markup of a line, and of all lines on a page. */
const maxCharacters = { line: 100_000, page: 1_000_000 };

const tooLong = html`<i class="muted">This line is too long to be shown.</i>`;

/** Omits lines that would make a page too large, such as lines of minified code. */
export const limitLines = (lines: readonly Html[]): Html[] => {
  let total = 0;
  return lines.map((line) => {
    const { length } = line.text;
    if (length > maxCharacters.line || total + length > maxCharacters.page) return tooLong;
    total += length;
    return line;
  });
};

/**
 * Renders lines, each with an anchor: `#L10`. If a page shows several files, the anchors have prefixes, and the client
 * script marks no ranges.
 */
export const writeLines = ({ lines, first, size, total, oneOfSeveral }: CodeLines): Html => {
  const prefix = oneOfSeveral?.idPrefix ?? '';
  const rows = lines.map(({ text }, at) => {
    const id = `${prefix}L${first + at}`;
    return `<tr id="${id}"><td class="n"><a href="#${id}">${first + at}</a></td><td>${text}\n</td></tr>`;
  });
  const label = oneOfSeveral === undefined ? 'Content of the file' : `Content of ${oneOfSeveral.name}`;
  const ranges = oneOfSeveral === undefined ? ` data-lines="${size}" data-total="${total}"` : '';
  return trusted(
    `<div class="code-box" tabindex="0" role="region" aria-label="${escapeHtml(label)}"><table class="blob"${ranges}><tbody>${rows.join('')}</tbody></table></div>`,
  );
};
