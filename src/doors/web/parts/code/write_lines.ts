/** Writes numbered lines of code as a table. Plain strings: a file has thousands of lines. */
import { escapeHtml } from '../../../../platform/escape_html.ts';
import { type Html, html, trusted } from '../html.ts';

type Given = {
  /** Markup of the lines on this page. */
  lines: readonly Html[];
  /** Number of the first line. */
  first: number;
  /** Lines on each page, and of the file. */
  size: number;
  total: number;
  /** Of one of several files on a page: part of the anchors of its lines, and its name. */
  among?: { idPrefix: string; name: string } | undefined;
};

/** Characters of markup of a line, and of all lines on a page. */
const maxCharacters = { line: 100_000, page: 1_000_000 };

const tooLong = html`<i class="muted">This line is too long to be shown.</i>`;

/** Leaves out lines that would make a page too large, such as those of minified code. */
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
 * Each line has an anchor, `#L10`. The client script marks ranges of the only file of a page; the anchors of several have
 * prefixes.
 */
export const writeLines = ({ lines, first, size, total, among }: Given): Html => {
  const prefix = among?.idPrefix ?? '';
  const rows = lines.map(({ text }, at) => {
    const id = `${prefix}L${first + at}`;
    return `<tr id="${id}"><td class="n"><a href="#${id}">${first + at}</a></td><td>${text}\n</td></tr>`;
  });
  const label = among === undefined ? 'Content of the file' : `Content of ${among.name}`;
  const ranges = among === undefined ? ` data-lines="${size}" data-total="${total}"` : '';
  return trusted(
    `<div class="code-box" tabindex="0" role="region" aria-label="${escapeHtml(label)}"><table class="blob"${ranges}><tbody>${rows.join('')}</tbody></table></div>`,
  );
};
