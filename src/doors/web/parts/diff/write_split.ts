/** Writes the rows of a diff as a table with the old file on the left and the new one on the right. */
import { type Html, trusted } from '../html.ts';
import { type PreparedRow, findBlocks } from './prepare_rows.ts';
import {
  type LineRow,
  type TableOptions,
  belowRows,
  numberCell,
  rowId,
  signs,
  tableAround,
  wideRow,
} from './row_parts.ts';

const columns = [
  ['n', 'Old line'],
  ['sign', 'Change of the old line'],
  ['', 'Old content'],
  ['n', 'New line'],
  ['sign', 'Change of the new line'],
  ['', 'New content'],
] as const;

const noSide = '<td class="n none"></td><td class="sign none"></td><td class="none"></td>';

const sideCells = (options: TableOptions, row: LineRow | undefined, side: 'old' | 'new'): string => {
  if (row === undefined) return noSide;
  const look = row.kind === 'same' ? '' : ` class="${row.kind}"`;
  return `${numberCell(options, row, side)}${signs[row.kind]}<td${look}>${row.markup}\n</td>`;
};

const writePair = (options: TableOptions, old: LineRow | undefined, fresh: LineRow | undefined): string => {
  const shown = fresh ?? old;
  const id = shown === undefined ? '' : ` id="${rowId(options.fileId, shown)}"`;
  const rows = old === fresh ? [old] : [old, fresh];
  const below = rows.map((row) => (row === undefined ? '' : belowRows(options, row, columns.length)));
  return `<tr${id}>${sideCells(options, old, 'old')}${sideCells(options, fresh, 'new')}</tr>${below.join('')}`;
};

const lineAt = (rows: readonly PreparedRow[], at: number): LineRow | undefined => {
  const row = rows[at];
  return row === undefined || row.kind === 'hunk' || row.kind === 'note' ? undefined : row;
};

/** Writes the split table of a file. */
export const writeSplit = (options: TableOptions): Html => {
  const { rows } = options;
  const blocks = new Map(findBlocks(rows).map((block) => [block.start, block]));
  const written: string[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const block = blocks.get(at);
    const row = rows[at];
    if (block !== undefined) {
      const { start, removed, added } = block;
      for (let index = 0; index < Math.max(removed, added); index += 1) {
        const old = index < removed ? lineAt(rows, start + index) : undefined;
        const fresh = index < added ? lineAt(rows, start + removed + index) : undefined;
        written.push(writePair(options, old, fresh));
      }
      at += removed + added - 1;
    } else if (row !== undefined) {
      const line = lineAt(rows, at);
      written.push(
        line === undefined ? wideRow(options, row, columns.length) : writePair(options, line, line),
      );
    }
  }
  return trusted(tableAround(options, 'split', columns, written.join('')));
};
