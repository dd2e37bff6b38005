/** Prepares the rows of a diff for a table: pairs of lines, words that differ, markup of the content. */
import type { Call } from '../../../../core/access/call.ts';
import { escapeHtml } from '../../../../platform/escape_html.ts';
import { type Span, findDifferences, markSpans } from './find_changed_words.ts';
import { highlightRows } from './highlight_rows.ts';
import type { DiffRow } from './parse_lines.ts';

/** A row with the markup of its content. */
export type PreparedRow = DiffRow & { markup: string };

/** A block of removed lines and the added lines that replace them: indexes of rows. */
export type Block = { start: number; removed: number; added: number };

const countFrom = (rows: readonly DiffRow[], start: number, kind: DiffRow['kind']): number => {
  let end = start;
  while (rows[end]?.kind === kind) end += 1;
  return end - start;
};

/** Finds the blocks of changed lines. */
export const findBlocks = (rows: readonly DiffRow[]): Block[] => {
  const blocks: Block[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const removed = countFrom(rows, at, 'del');
    const added = countFrom(rows, at + removed, 'add');
    if (removed + added === 0) continue;
    blocks.push({ start: at, removed, added });
    at += removed + added - 1;
  }
  return blocks;
};

/** Compares each removed line with the added line of the same place in its block. */
const findSpans = (rows: readonly DiffRow[]): Map<number, Span[]> => {
  const spans = new Map<number, Span[]>();
  for (const { start, removed, added } of findBlocks(rows)) {
    for (let index = 0; index < Math.min(removed, added); index += 1) {
      const [old, fresh] = [start + index, start + removed + index];
      const differences = findDifferences(rows[old]?.text ?? '', rows[fresh]?.text ?? '');
      if (differences !== null) spans.set(old, differences.old).set(fresh, differences.fresh);
    }
  }
  return spans;
};

/** Prepares rows with the given markup of their lines; others are escaped. */
export const prepareRows = (
  rows: readonly DiffRow[],
  highlighted: ReadonlyMap<number, string> = new Map(),
): PreparedRow[] => {
  const spans = findSpans(rows);
  return rows.map((row, at) => {
    const markup = highlighted.get(at) ?? escapeHtml(row.text);
    return { ...row, markup: markSpans(markup, spans.get(at) ?? []) };
  });
};

/** Prepares rows with highlighted code. @param path of the file, which determines its language */
export const highlightedRows = async (
  call: Call,
  path: string,
  rows: readonly DiffRow[],
): Promise<PreparedRow[]> => prepareRows(rows, await highlightRows(call, path, rows));
