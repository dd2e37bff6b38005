/** Adds unchanged lines around the hunks of a diff, and marks where more are hidden. Pure. */
import type { LineRange } from './line_ranges.ts';
import type { DiffRow } from './parse_lines.ts';

type Expansion = {
  /** Lines of the new file; null if they were not read, so none are added. */
  lines: readonly string[] | null;
  /** Lines to show, by their numbers in the new file. */
  ranges: readonly LineRange[] | 'all';
};

/** Unchanged lines that git shows before and after a change, if the file has as many. */
const contextLines = 3;

/** Returns whether the file may continue after the last hunk: at the end of a file, a hunk has less context. */
const mayContinue = (rows: readonly DiffRow[]): boolean =>
  rows.length > contextLines && rows.slice(-contextLines).every(({ kind }) => kind === 'same');

type Line = Exclude<DiffRow, { kind: 'hunk' | 'note' }>;

const isShown = ({ ranges }: Expansion, line: number): boolean =>
  ranges === 'all' || ranges.some(([from, to]) => from <= line && line <= to);

/** Lines of the new file between two hunks, and the offset of the old lines. */
type Gap = { from: number; end: number; distance: number };

const hiddenRow = (from: number, end: number, text: string): DiffRow => ({
  kind: 'hunk',
  text,
  ...(end > from && { hidden: { from, to: end - 1 } }),
});

/** Returns the rows between two hunks: shown lines, and a row for hidden lines. */
const gapRows = (expansion: Expansion, { from, end, distance }: Gap, header: string): DiffRow[] => {
  const { lines } = expansion;
  if (lines === null) return [hiddenRow(from, end, header)];
  const rows: DiffRow[] = [];
  let hiddenFrom = from;
  for (let line = from; line < end; line += 1) {
    if (!isShown(expansion, line)) continue;
    if (line > hiddenFrom) rows.push(hiddenRow(hiddenFrom, line, ''));
    const text = lines[line - 1] ?? '';
    rows.push({ kind: 'same', old: line + distance, new: line, text, isExpanded: true });
    hiddenFrom = line + 1;
  }
  if (end > hiddenFrom) rows.push(hiddenRow(hiddenFrom, end, header));
  return rows;
};

/** Returns the numbers of the line after a row, on both sides. */
const after = ({ kind, old, new: fresh }: Line): [old: number, fresh: number] => [
  old + (kind === 'add' ? 0 : 1),
  fresh + (kind === 'del' ? 0 : 1),
];

/** Adds the unchanged lines of the ranges. Rows of kind `hunk` have the lines that stay hidden. */
export const expandRows = (rows: readonly DiffRow[], expansion: Expansion): DiffRow[] => {
  const expanded: DiffRow[] = [];
  let [old, fresh] = [1, 1];
  let header: string | null = null;
  for (const row of rows) {
    if (row.kind === 'hunk') header = row.text;
    else if (row.kind === 'note') expanded.push(row);
    else {
      const gap = { from: fresh, end: row.new, distance: old - fresh };
      if (header !== null) expanded.push(...gapRows(expansion, gap, header));
      header = null;
      [old, fresh] = after(row);
      expanded.push(row);
    }
  }
  const { lines } = expansion;
  if (lines === null) {
    return mayContinue(rows)
      ? [...expanded, { kind: 'hunk', text: '', hidden: { from: fresh, to: null } }]
      : expanded;
  }
  const end = { from: fresh, end: lines.length + 1, distance: old - fresh };
  return [...expanded, ...gapRows(expansion, end, '')];
};
