/** Cells that both views of a diff have in common. Plain strings: a diff has thousands of rows. */
import { escapeHtml } from '../../../../platform/escape_html.ts';
import type { Html } from '../html.ts';
import type { LineRange } from './line_ranges.ts';
import type { DiffRow } from './parse_lines.ts';
import type { PreparedRow } from './prepare_rows.ts';

export type LineRow = Extract<PreparedRow, { kind: 'same' | 'add' | 'del' }>;

/** A side of a file and the number of a line on it: `new_12`. */
export type LineKey = `${'old' | 'new'}_${number}`;

export type TableOptions = {
  rows: readonly PreparedRow[];
  /** Start of the ids of the rows. */
  fileId: string;
  /** Accessible name of the table. */
  label: string;
  /** Start of the address of the form for a comment on a line, before its key; null: lines take no comments. */
  commentPath?: string | null;
  /** Whether a line takes comments; absent: all lines of the diff do. */
  takesComments?: (row: LineRow) => boolean;
  /** Address of the whole file; null if it cannot be shown. */
  wholePath?: string | null;
  /** Returns the address with further lines; null if there is no such URL. Absent: lines cannot be added. */
  expandPath?: ((range: LineRange) => string | null) | undefined;
  /** Rows below lines: threads and forms. */
  below?: ReadonlyMap<string, Html>;
};

const kinds = { same: 'unchanged', add: 'added', del: 'removed' } as const;

/** Returns the line that represents a row: the new line, unless it was removed. */
const keyOf = ({ kind, old, new: fresh }: LineRow): LineKey =>
  kind === 'del' ? `old_${old}` : `new_${fresh}`;

export const rowId = (fileId: string, { old, new: fresh }: LineRow): string => `${fileId}_${old}_${fresh}`;

/** Writes the number of a line, as a link to the form for a comment, or to the line itself. */
export const numberCell = (options: TableOptions, row: LineRow, side: 'old' | 'new'): string => {
  const number = side === 'old' ? row.old : row.new;
  const isLink = side === (row.kind === 'del' ? 'old' : 'new');
  if (!isLink) return `<td class="n">${number}</td>`;
  const { commentPath = null, fileId } = options;
  const line = `${number}, ${kinds[row.kind]}`;
  if (commentPath === null || row.isExpanded === true || options.takesComments?.(row) === false) {
    const title = commentPath === null ? '' : ' title="This line takes no comments"';
    return `<td class="n"><a href="#${rowId(fileId, row)}" aria-label="Line ${line}"${title}>${number}</a></td>`;
  }
  return `<td class="n"><a href="${commentPath}${keyOf(row)}" aria-label="Comment on line ${line}">${number}</a></td>`;
};

export const emptyNumber = '<td class="n"></td>';

/** With entities, like all marks of rows: one character beyond Latin-1 doubles the time to encode a long diff. */
export const signs = {
  same: '<td class="sign"></td>',
  add: '<td class="sign add" aria-label="added">+</td>',
  del: '<td class="sign del" aria-label="removed">&minus;</td>',
};

/** Lines that one click adds. */
const step = 20;

type Hidden = { from: number; to: number | null };

/** Returns what one click can show of hidden lines, with the markup of its link. */
const stepsOf = ({ from, to }: Hidden): [range: LineRange, text: string][] => {
  if (to === null) return [[[from, from + step - 1], `&darr; ${step} lines`]];
  const count = to - from + 1;
  if (count <= step) return [[[from, to], count === 1 ? 'Show 1 line' : `Show ${count} lines`]];
  const below: [LineRange, string] = [[from, from + step - 1], `&darr; ${step} lines`];
  const above: [LineRange, string] = [[to - step + 1, to], `&uarr; ${step} lines`];
  return from === 1 ? [above] : [below, above];
};

const expandLinks = ({ expandPath }: TableOptions, hidden: Hidden | undefined): string => {
  if (expandPath === undefined || hidden === undefined) return '';
  return stepsOf(hidden)
    .map(([range, text]) => {
      const path = expandPath(range);
      const numbers = `${range[0]} to ${range[1]}`;
      return path === null
        ? ''
        : `<a class="expand step" href="${escapeHtml(path)}" title="Lines ${numbers}">${text}<span class="visually-hidden">: ${numbers}</span></a> `;
    })
    .join('');
};

/** Writes the header of a hunk, or a note such as a missing line end. */
export const wideRow = (options: TableOptions, row: PreparedRow, columns: number): string => {
  const { wholePath = null } = options;
  const text = escapeHtml(row.text);
  if (row.kind !== 'hunk' || wholePath === null)
    return `<tr class="hunk"><td colspan="${columns}">${text}</td></tr>`;
  const link = `<a class="expand" href="${escapeHtml(wholePath)}" aria-label="Show the whole file">&ctdot;</a>`;
  const numbers = columns / 2 - 1;
  return `<tr class="hunk"><td class="n" colspan="${numbers}">${link}</td><td colspan="${columns - numbers}">${expandLinks(options, row.hidden)}${text}</td></tr>`;
};

/** Returns the lines that a row shows: one for each side that it has. */
export const keysOf = (row: DiffRow): LineKey[] => {
  if (row.kind === 'hunk' || row.kind === 'note') return [];
  return [
    ...(row.kind === 'add' ? [] : [`old_${row.old}` as const]),
    ...(row.kind === 'del' ? [] : [`new_${row.new}` as const]),
  ];
};

/** Writes the content below a line, as separate rows. */
export const belowRows = ({ below }: TableOptions, row: LineRow, columns: number): string => {
  if (below === undefined || below.size === 0) return '';
  return keysOf(row)
    .map((key) => below.get(key))
    .filter((part) => part !== undefined)
    .map(({ text }) => `<tr class="thread"><td colspan="${columns}">${text}</td></tr>`)
    .join('');
};

const header = (texts: readonly string[]): string =>
  `<thead class="visually-hidden"><tr>${texts.map((text) => `<th scope="col">${text}</th>`).join('')}</tr></thead>`;

/** Writes a table of a file around its rows. @param columns class and header of each column */
export const tableAround = (
  { label }: TableOptions,
  view: 'unified' | 'split',
  columns: readonly (readonly [className: string, text: string])[],
  body: string,
): string => {
  const widths = columns.map(([name]) => (name === '' ? '<col>' : `<col class="${name}">`)).join('');
  const heads = header(columns.map(([, text]) => text));
  return `<div class="code-box" tabindex="0" role="region" aria-label="${escapeHtml(label)}"><table class="diff ${view}-diff"><colgroup>${widths}</colgroup>${heads}<tbody>${body}</tbody></table></div>`;
};
