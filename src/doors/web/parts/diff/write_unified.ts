/** Writes the rows of a diff as a table with one column of content. */
import { type Html, trusted } from '../html.ts';
import type { PreparedRow } from './prepare_rows.ts';
import {
  type TableOptions,
  belowRows,
  emptyNumber,
  numberCell,
  rowId,
  signs,
  tableAround,
  wideRow,
} from './row_parts.ts';

const columns = [
  ['n', 'Old line'],
  ['n', 'New line'],
  ['sign', 'Change'],
  ['', 'Content'],
] as const;

const writeRow = (options: TableOptions, row: PreparedRow): string => {
  if (row.kind === 'hunk' || row.kind === 'note') return wideRow(options, row, columns.length);
  const { kind } = row;
  const old = kind === 'add' ? emptyNumber : numberCell(options, row, 'old');
  const fresh = kind === 'del' ? emptyNumber : numberCell(options, row, 'new');
  const look = kind === 'same' ? '' : ` class="${kind}"`;
  return `<tr${look} id="${rowId(options.fileId, row)}">${old}${fresh}${signs[kind]}<td>${row.markup}\n</td></tr>${belowRows(options, row, columns.length)}`;
};

/** Writes the unified table of a file. */
export const writeUnified = (options: TableOptions): Html =>
  trusted(
    tableAround(options, 'unified', columns, options.rows.map((row) => writeRow(options, row)).join('')),
  );
