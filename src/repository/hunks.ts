/** Unified diff texts, read for the numbers of their lines. Pure. */

/** A line of a diff with its numbers: null where the side does not have it. */
export type DiffLine = { old_line: number | null; new_line: number | null };

/** One block of a diff: where it begins on both sides, and its lines' marks: ` `, `+`, `-`. */
type Hunk = { old_start: number; old_count: number; new_start: number; new_count: number; marks: string[] };

const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

const beginHunk = (line: string): Hunk | null => {
  const [, oldStart, oldCount = '1', newStart, newCount = '1'] = header.exec(line) ?? [];
  if (oldStart === undefined || newStart === undefined) return null;
  const [old_count, new_count] = [Number(oldCount), Number(newCount)];
  return {
    // A side without lines is named by the line before.
    old_start: Number(oldStart) + (old_count === 0 ? 1 : 0),
    old_count,
    new_start: Number(newStart) + (new_count === 0 ? 1 : 0),
    new_count,
    marks: [],
  };
};

/** The blocks of a diff. They know how long they are: so a line that looks like a header is none. */
export const hunksOf = (diff: string): Hunk[] => {
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
    const begun = beginHunk(line);
    if (begun === null) continue;
    hunks.push(begun);
    [left, right] = [begun.old_count, begun.new_count];
  }
  return hunks;
};

/** `at`: its number, or where the side lacks it, that of the line that comes next there. */
type Placed = DiffLine & { old_at: number; new_at: number };

/** The lines of a block, in their order. */
const linesOf = ({ old_start, new_start, marks }: Hunk): Placed[] => {
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
 * The line of a diff that is asked for by one of its numbers, or by both; null: the diff does not show it. A line
 * that did not change has both, also where one was given.
 */
export const findLine = (diff: string, line: DiffLine): DiffLine | null => {
  const found = placedLine(diff, line);
  return found === null ? null : { old_line: found.old_line, new_line: found.new_line };
};

const placedLine = (diff: string, { old_line, new_line }: DiffLine): Placed | null => {
  for (const hunk of hunksOf(diff)) {
    const found = linesOf(hunk).find((line) =>
      new_line === null
        ? line.old_line === old_line
        : line.new_line === new_line && (old_line === null || line.old_line === old_line),
    );
    if (found !== undefined) return found;
  }
  return null;
};

/** The numbers of a line on both sides; where a side lacks it, that of the line that comes next there. */
export const numbersAt = (diff: string, line: DiffLine): { old_at: number; new_at: number } => {
  const { old_line, new_line } = line;
  const { old_at, new_at } = placedLine(diff, line) ?? {
    old_at: old_line ?? new_line ?? 0,
    new_at: new_line ?? old_line ?? 0,
  };
  return { old_at, new_at };
};

/**
 * Where a line of one side stands on the other; null: it does not. Whatever the diff does not show is the same on both
 * sides.
 */
const across = (diff: string, number: number, from: 'old' | 'new'): number | null => {
  const [here, there] = from === 'old' ? (['old', 'new'] as const) : (['new', 'old'] as const);
  let moved = 0;
  for (const hunk of hunksOf(diff)) {
    const start = hunk[`${here}_start`];
    if (number < start) break;
    if (number < start + hunk[`${here}_count`]) {
      return linesOf(hunk).find((line) => line[`${here}_line`] === number)?.[`${there}_line`] ?? null;
    }
    moved = hunk[`${there}_start`] + hunk[`${there}_count`] - (start + hunk[`${here}_count`]);
  }
  return number + moved;
};

/** Where a line of the old file stands in the new one; null: it was removed. */
export const newLineOf = (diff: string, old_line: number): number | null => across(diff, old_line, 'old');

/** Where a line of the new file stood in the old one; null: it was added. */
export const oldLineOf = (diff: string, new_line: number): number | null => across(diff, new_line, 'new');
