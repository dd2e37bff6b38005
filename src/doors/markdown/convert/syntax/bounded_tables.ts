/**
 * Tables with a bounded number of cells. A short row is completed to the width of the head, so that a few characters
 * would otherwise write many cells.
 */
import makeMarkdownIt, { type MarkdownIt, type StateBlock } from 'markdown-it';

/** Cells that a text may have in addition to one for each of its characters. */
const extraCells = 100;

/** The table rule of the parser, which is its first rule. */
const [parseTable] = makeMarkdownIt('zero').enable('table').block.ruler.getRules('');

/** Returns the columns of a table with this delimiter row; 1 if it is not one. */
const countColumns = (state: StateBlock, line: number): number => {
  const row = state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]);
  return /^[\s|:-]+$/.test(row) ? (row.match(/-+/g)?.length ?? 1) : 1;
};

/**
 * Parses a table. It ends where the text has more cells below heads than characters; the rest is a paragraph. Rows that
 * are not completed have a character for each of their cells, and are not cut.
 */
const parseBoundedTable = (
  state: StateBlock,
  startLine: number,
  endLine: number,
  isSilent: boolean,
): boolean => {
  const firstRow = startLine + 2;
  if (parseTable === undefined || isSilent || firstRow > endLine)
    return parseTable?.(state, startLine, endLine, isSilent) ?? false;
  const environment = state.env as { tableCells?: number };
  const columns = countColumns(state, startLine + 1);
  const { tableCells = 0 } = environment;
  const rows = Math.floor(Math.max(0, state.src.length + extraCells - tableCells) / columns);
  if (!parseTable(state, startLine, Math.min(endLine, firstRow + rows), false)) return false;
  environment.tableCells = tableCells + (state.line - firstRow) * columns;
  return true;
};

export const boundTables = ({ block }: MarkdownIt): void =>
  block.ruler.at('table', parseBoundedTable, { alt: ['paragraph', 'reference'] });
