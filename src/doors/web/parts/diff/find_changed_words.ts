/** Finds the words that differ between a removed line and the added line that replaces it. Pure. */

/** A part of a line, in UTF-16 code units; the end is not part of it. */
export type Span = readonly [start: number, end: number];

/** Longer lines are not compared. */
const maxLength = 1_000;
/** Pairs of words that are compared; beyond, all between the common ends is one difference. */
const maxPairs = 40_000;
/** Lines with a smaller share of equal characters are different lines. */
const minEqualShare = 1 / 3;

const tokenize = (line: string): string[] => line.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) ?? [];

/**
 * Lengths of the longest common subsequences of the ends of both lists, by position: `lengths[old * width + fresh]`.
 */
const commonLengths = (old: readonly string[], fresh: readonly string[]): Uint16Array => {
  const width = fresh.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) {
      const isEqual = old[i] === fresh[j];
      const [down, right] = [lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0];
      lengths[i * width + j] = isEqual ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(down, right);
    }
  }
  return lengths;
};

type Flags = { old: boolean[]; fresh: boolean[] };

/** Tells for each word of both lists whether the other list lacks it. */
const compareWords = (old: readonly string[], fresh: readonly string[]): Flags => {
  const flags: Flags = { old: old.map(() => true), fresh: fresh.map(() => true) };
  if (old.length * fresh.length > maxPairs) return flags;
  const lengths = commonLengths(old, fresh);
  const width = fresh.length + 1;
  let [i, j] = [0, 0];
  while (i < old.length && j < fresh.length) {
    if (old[i] === fresh[j]) {
      [flags.old[i], flags.fresh[j]] = [false, false];
      i += 1;
      j += 1;
    } else if ((lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)) i += 1;
    else j += 1;
  }
  return flags;
};

/** Joins neighbouring words that differ. */
const toSpans = (words: readonly string[], flags: readonly boolean[], start: number): Span[] => {
  const spans: [number, number][] = [];
  let at = start;
  words.forEach((word, index) => {
    const end = at + word.length;
    const last = spans.at(-1);
    if (flags[index] === true && last?.[1] === at) last[1] = end;
    else if (flags[index] === true) spans.push([at, end]);
    at = end;
  });
  return spans;
};

const lengthOf = (words: readonly string[]): number => words.reduce((sum, { length }) => sum + length, 0);

const equalLength = (words: readonly string[], flags: readonly boolean[]): number =>
  words.reduce((sum, word, at) => (flags[at] === true ? sum : sum + word.trim().length), 0);

export type Differences = { old: Span[]; fresh: Span[] };

/** Returns what differs on each side; null if the lines are equal, too long, or have little in common. */
export const findDifferences = (oldLine: string, freshLine: string): Differences | null => {
  if (oldLine === freshLine || oldLine.length > maxLength || freshLine.length > maxLength) return null;
  const [old, fresh] = [tokenize(oldLine), tokenize(freshLine)];
  const most = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < most && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  const [oldMiddle, freshMiddle] = [
    old.slice(start, old.length - end),
    fresh.slice(start, fresh.length - end),
  ];
  const flags = compareWords(oldMiddle, freshMiddle);
  const ends = [...old.slice(0, start), ...old.slice(old.length - end)];
  const equal = equalLength(ends, []) + equalLength(oldMiddle, flags.old);
  const longer = Math.max(oldLine.trim().length, freshLine.trim().length);
  if (equal < longer * minEqualShare) return null;
  const before = lengthOf(old.slice(0, start));
  return {
    old: toSpans(oldMiddle, flags.old, before),
    fresh: toSpans(freshMiddle, flags.fresh, before),
  };
};

const markupPattern = /<[^>]*>|&[#\w]+;|[^<&]+/g;

/**
 * Marks spans of a line's text in its markup, which may have elements and character references. Each piece of text has
 * its own `<mark>`, so elements stay nested.
 */
export const markSpans = (markup: string, spans: readonly Span[]): string => {
  if (spans.length === 0) return markup;
  let [at, index, marked] = [0, 0, ''];
  for (const [piece] of markup.matchAll(markupPattern)) {
    if (piece.startsWith('<')) {
      marked += piece;
      continue;
    }
    const isReference = piece.startsWith('&');
    const end = at + (isReference ? 1 : piece.length);
    let done = at;
    const textBetween = (from: number, to: number): string =>
      isReference ? piece : piece.slice(from - at, to - at);
    for (let span = spans[index]; span !== undefined && span[0] < end; span = spans[index]) {
      const [from, to] = [Math.max(span[0], done), Math.min(span[1], end)];
      if (from > done) marked += textBetween(done, from);
      if (to > from) marked += `<mark>${textBetween(from, to)}</mark>`;
      done = Math.max(to, done);
      if (span[1] > end) break;
      index += 1;
    }
    if (done < end) marked += textBetween(done, end);
    at = end;
  }
  return marked;
};
