/** Ranges of lines that a reader has asked for around the hunks of a diff, as an address has them: `10-29,50-69`. Pure. */

export type LineRange = readonly [from: number, to: number];

/** Longest text of ranges in an address; beyond it there is the whole file. */
export const maxRangesLength = 500;

const pattern = /^\d{1,7}-\d{1,7}(?:,\d{1,7}-\d{1,7})*$/;

/** Parses ranges; returns none for an invalid text. */
export const parseRanges = (text = ''): LineRange[] =>
  pattern.test(text)
    ? text.split(',').map((range) => {
        const [from = 0, to = 0] = range.split('-').map(Number);
        return [from, to] as const;
      })
    : [];

/** Sorts ranges, and joins adjacent ranges. */
const joinRanges = (ranges: readonly LineRange[]): LineRange[] => {
  const joined: LineRange[] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1] + 1) joined.splice(-1, 1, [last[0], Math.max(last[1], to)]);
    else joined.push([from, to]);
  }
  return joined;
};

/** Writes ranges together with one more; null: that is too long for an address. */
export const addRange = (ranges: readonly LineRange[], more: LineRange): string | null => {
  const text = joinRanges([...ranges, more])
    .map(([from, to]) => `${from}-${to}`)
    .join(',');
  return text.length > maxRangesLength ? null : text;
};
