import type { DiffRow } from './parse_lines.ts';

/**
 * Adds the unchanged lines around the hunks, so that the rows show the whole file.
 * @param lines of the new file
 */
export const expandRows = (rows: readonly DiffRow[], lines: readonly string[]): DiffRow[] => {
  const expanded: DiffRow[] = [];
  let [old, fresh] = [1, 1];
  const addUntil = (end: number): void => {
    for (; fresh < end; fresh += 1, old += 1) {
      const text = lines[fresh - 1] ?? '';
      expanded.push({ kind: 'same', old, new: fresh, text, isExpanded: true });
    }
  };
  for (const row of rows) {
    if (row.kind === 'hunk') continue;
    if (row.kind !== 'note') {
      addUntil(row.new);
      [old, fresh] = [row.old + (row.kind === 'add' ? 0 : 1), row.new + (row.kind === 'del' ? 0 : 1)];
    }
    expanded.push(row);
  }
  addUntil(lines.length + 1);
  return expanded;
};
