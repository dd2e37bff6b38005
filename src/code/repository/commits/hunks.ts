/** Parses unified diffs and maps line numbers between the old and the new file. Pure. */

/** The numbers of a diff line on both sides; null if that side lacks the line. */
export type DiffLine = { old_line: number | null; new_line: number | null };

/** One hunk: its start on both sides, and the marks of its lines: ` `, `+`, `-`. */
type Hunk = { old_start: number; old_count: number; new_start: number; new_count: number; marks: string[] };

const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

const parseHunkHeader = (line: string): Hunk | null => {
  const [, oldStart, oldCount = '1', newStart, newCount = '1'] = header.exec(line) ?? [];
  if (oldStart === undefined || newStart === undefined) return null;
  const [old_count, new_count] = [Number(oldCount), Number(newCount)];
  return {
    // The header of an empty side names the line before it.
    old_start: Number(oldStart) + (old_count === 0 ? 1 : 0),
    old_count,
    new_start: Number(newStart) + (new_count === 0 ? 1 : 0),
    new_count,
    marks: [],
  };
};

/** Parses the hunks of a diff. Counts lines, so a content line that looks like a header is not taken for one. */
export const parseHunks = (diff: string): Hunk[] => {
  const hunks: Hunk[] = [];
  let [left, right] = [0, 0];
  for (const line of diff.split('\n')) {
    const hunk = hunks.at(-1);
    const mark = line[0] ?? ' ';
    if (hunk !== undefined && (left > 0 || right > 0)) {
      if (mark === '\\') continue;
      hunk.marks.push(mark);
      if (mark !== '+') left -= 1;
      if (mark !== '-') right -= 1;
      continue;
    }
    const nextHunk = parseHunkHeader(line);
    if (nextHunk === null) continue;
    hunks.push(nextHunk);
    [left, right] = [nextHunk.old_count, nextHunk.new_count];
  }
  return hunks;
};

/** `old_at`, `new_at`: the line's number, or the number of the next line if the side lacks it. */
type PlacedLine = DiffLine & { old_at: number; new_at: number };

/** Numbers the lines of a hunk, in order. */
const numberLines = ({ old_start, new_start, marks }: Hunk): PlacedLine[] => {
  let [old_at, new_at] = [old_start, new_start];
  return marks.map((mark) => {
    const [old_line, new_line] = [mark === '+' ? null : old_at, mark === '-' ? null : new_at];
    const line = { old_line, new_line, old_at, new_at };
    if (mark !== '+') old_at += 1;
    if (mark !== '-') new_at += 1;
    return line;
  });
};

/**
 * Finds a line of a diff by one of its numbers or by both; null if the diff does not show it. An unchanged line is
 * returned with both numbers.
 */
export const findLine = (diff: string, line: DiffLine): DiffLine | null => {
  const placed = placedLine(diff, line);
  return placed === null ? null : { old_line: placed.old_line, new_line: placed.new_line };
};

const placedLine = (diff: string, { old_line, new_line }: DiffLine): PlacedLine | null => {
  for (const hunk of parseHunks(diff)) {
    const placed = numberLines(hunk).find((line) =>
      new_line === null
        ? line.old_line === old_line
        : line.new_line === new_line && (old_line === null || line.old_line === old_line),
    );
    if (placed !== undefined) return placed;
  }
  return null;
};

/** Returns the numbers of a line on both sides; the number of the next line if a side lacks it. */
export const numbersAt = (diff: string, line: DiffLine): { old_at: number; new_at: number } => {
  const { old_line, new_line } = line;
  const { old_at, new_at } = placedLine(diff, line) ?? {
    old_at: old_line ?? new_line ?? 0,
    new_at: new_line ?? old_line ?? 0,
  };
  return { old_at, new_at };
};

/**
 * Maps a line number from one side to the other; null if the line does not exist there. Lines outside of the hunks are
 * the same on both sides.
 */
const mapLine = (diff: string, number: number, from: 'old' | 'new'): number | null => {
  const [here, there] = from === 'old' ? (['old', 'new'] as const) : (['new', 'old'] as const);
  let moved = 0;
  for (const hunk of parseHunks(diff)) {
    const start = hunk[`${here}_start`];
    if (number < start) break;
    if (number < start + hunk[`${here}_count`]) {
      return numberLines(hunk).find((line) => line[`${here}_line`] === number)?.[`${there}_line`] ?? null;
    }
    moved = hunk[`${there}_start`] + hunk[`${there}_count`] - (start + hunk[`${here}_count`]);
  }
  return number + moved;
};

/** Maps a line of the old file to the new file; null if it was removed. */
export const toNewLine = (diff: string, old_line: number): number | null => mapLine(diff, old_line, 'old');

/** Maps a line of the new file to the old file; null if it was added. */
export const toOldLine = (diff: string, new_line: number): number | null => mapLine(diff, new_line, 'new');
