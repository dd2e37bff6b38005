/** Writes numbered lines of code as a table. Plain strings: a file has thousands of lines. */
import { type Html, html, trusted } from '../html.ts';

type Given = {
  /** Markup of the lines on this page. */
  lines: readonly Html[];
  /** Number of the first line. */
  first: number;
  /** Lines on each page, and of the file. */
  size: number;
  total: number;
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

/** Each line has an anchor, `#L10`. The client script marks ranges. */
export const writeLines = ({ lines, first, size, total }: Given): Html => {
  const rows = lines.map(
    ({ text }, at) =>
      `<tr id="L${first + at}"><td class="n"><a href="#L${first + at}">${first + at}</a></td><td>${text}\n</td></tr>`,
  );
  return trusted(
    `<div class="code-box" tabindex="0" role="region" aria-label="Content of the file"><table class="blob" data-lines="${size}" data-total="${total}"><tbody>${rows.join('')}</tbody></table></div>`,
  );
};
