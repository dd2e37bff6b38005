/** Writes the rows of a diff as a table. Plain strings: a diff has thousands of rows. */
import { type Html, escapeText, trusted } from '../html.ts';
import { type DiffRow, parseLines } from './parse_lines.ts';

/** Longer lines are not compared word by word. */
const maxComparedLength = 1_000;

type Changed = DiffRow & { kind: 'add' | 'del' };

/** Marks what differs between a removed line and the added one that replaces it: all between their common ends. */
const markDifference = (own: string, other: string): string => {
  if (own.length > maxComparedLength || other.length > maxComparedLength) return escapeText(own);
  const most = Math.min(own.length, other.length);
  let start = 0;
  while (start < most && own[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && own.at(-1 - end) === other.at(-1 - end)) end += 1;
  const middle = own.slice(start, own.length - end);
  // Lines that have little in common are different lines.
  if (middle === '' || start + end < own.trim().length / 3) return escapeText(own);
  const [before, after] = [own.slice(0, start), own.slice(own.length - end)];
  // A pair of surrogates stays whole.
  if (/[\uD800-\uDBFF]$/.test(before) || /^[\uDC00-\uDFFF]/.test(after)) return escapeText(own);
  return `${escapeText(before)}<mark>${escapeText(middle)}</mark>${escapeText(after)}`;
};

const isChange = (row: DiffRow | undefined, kind: 'add' | 'del'): row is Changed => row?.kind === kind;

/** Pairs each removed line with the added line of a block that has as many of both, by index. */
const pairLines = (rows: readonly DiffRow[]): Map<number, string> => {
  const pairs = new Map<number, string>();
  for (let at = 0; at < rows.length; at += 1) {
    let removed = 0;
    while (isChange(rows[at + removed], 'del')) removed += 1;
    if (removed === 0) continue;
    let added = 0;
    while (isChange(rows[at + removed + added], 'add')) added += 1;
    for (let index = 0; added === removed && index < removed; index += 1) {
      const [old, fresh] = [rows[at + index], rows[at + removed + index]];
      if (!isChange(old, 'del') || !isChange(fresh, 'add')) break;
      pairs.set(at + index, fresh.text).set(at + removed + index, old.text);
    }
    at += removed + added - 1;
  }
  return pairs;
};

const signs = {
  same: '<td class="sign"></td>',
  add: '<td class="sign" aria-label="added">+</td>',
  del: '<td class="sign" aria-label="removed">−</td>',
};

const numberCell = (id: string, number: number | null): string =>
  number === null ? '<td class="n"></td>' : `<td class="n"><a href="#${id}">${number}</a></td>`;

const writeRow = (row: DiffRow, fileId: string, other: string | undefined): string => {
  if (row.kind === 'hunk') return `<tr class="hunk"><td colspan="4">${escapeText(row.text)}</td></tr>`;
  if (row.kind === 'note') return `<tr class="hunk"><td colspan="4">${escapeText(row.text)}</td></tr>`;
  const { kind, old, new: fresh, text } = row;
  const id = `${fileId}_${old}_${fresh}`;
  const content = other === undefined ? escapeText(text) : markDifference(text, other);
  return `<tr${kind === 'same' ? '' : ` class="${kind}"`} id="${id}">${numberCell(id, kind === 'add' ? null : old)}${numberCell(
    id,
    kind === 'del' ? null : fresh,
  )}${signs[kind]}<td>${content}\n</td></tr>`;
};

/** Writes the table of one file. @param fileId start of the ids of its rows */
export const writeRows = (diff: string, fileId: string, label: string): Html => {
  const rows = parseLines(diff);
  const pairs = pairLines(rows);
  const body = rows.map((row, at) => writeRow(row, fileId, pairs.get(at))).join('');
  return trusted(
    `<div class="code-box" tabindex="0" role="region" aria-label="${escapeText(label)}"><table class="diff"><colgroup><col class="n"><col class="n"><col class="sign"><col></colgroup><thead class="visually-hidden"><tr><th scope="col">Old line</th><th scope="col">New line</th><th scope="col">Change</th><th scope="col">Content</th></tr></thead><tbody>${body}</tbody></table></div>`,
  );
};
