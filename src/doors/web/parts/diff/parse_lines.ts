/** Parses the text of a unified diff into rows. Pure. */

export type DiffRow =
  | {
      kind: 'hunk';
      text: string;
      /** Unchanged lines of the new file that are hidden here. `to` null: lines after the last hunk. */
      hidden?: { from: number; to: number | null };
    }
  /** `\ No newline at end of file`. */
  | { kind: 'note'; text: string }
  | {
      kind: 'same' | 'add' | 'del';
      /** Numbers of the line, or of the next one on a side that lacks it. */
      old: number;
      new: number;
      text: string;
      /** The line is of the whole file, not of the diff. */
      isExpanded?: true;
    };

const hunkPattern = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Lines that a hunk still has on each side, and their next numbers. */
type Position = { old: number; new: number; oldLeft: number; newLeft: number };

const openHunk = (line: string): Position | null => {
  const [, old, oldCount = '1', fresh, newCount = '1'] = hunkPattern.exec(line) ?? [];
  if (old === undefined || fresh === undefined) return null;
  return { old: Number(old), new: Number(fresh), oldLeft: Number(oldCount), newLeft: Number(newCount) };
};

const readLine = (at: Position, line: string): DiffRow => {
  const [mark, text] = [line[0], line.slice(1)];
  if (mark === '+') {
    at.newLeft -= 1;
    return { kind: 'add', old: at.old, new: at.new++, text };
  }
  if (mark === '-') {
    at.oldLeft -= 1;
    return { kind: 'del', old: at.old++, new: at.new, text };
  }
  at.oldLeft -= 1;
  at.newLeft -= 1;
  return { kind: 'same', old: at.old++, new: at.new++, text };
};

/** Counts the lines of each hunk, so that a content line that looks like a header is not taken for one. */
export const parseLines = (diff: string): DiffRow[] => {
  const rows: DiffRow[] = [];
  let at: Position = { old: 0, new: 0, oldLeft: 0, newLeft: 0 };
  const lines = diff.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    if (line.startsWith('\\')) rows.push({ kind: 'note', text: line.slice(2) });
    else if (at.oldLeft > 0 || at.newLeft > 0) rows.push(readLine(at, line));
    else {
      const opened = openHunk(line);
      if (opened === null) continue;
      at = opened;
      rows.push({ kind: 'hunk', text: line });
    }
  }
  return rows;
};
