/** Ranks paths for a fuzzy search: letters must occur in their order, with gaps allowed. Pure; browsers use it, too. */

/** Ranks of exact matches. A fuzzy match has `letters` plus the length of its gaps. */
const ranks = { sameName: 0, nameStart: 1, inName: 2, inPath: 3, letters: 4 } as const;

/**
 * Returns the length of the gaps between the letters of the word, searched from the end; null if a letter is missing.
 */
const countBetween = (path: string, word: string): number | null => {
  let at = path.length;
  let last = 0;
  for (let index = word.length - 1; index >= 0; index -= 1) {
    at = at === 0 ? -1 : path.lastIndexOf(word.charAt(index), at - 1);
    if (at === -1) return null;
    if (index === word.length - 1) last = at;
  }
  return last - at + 1 - word.length;
};

const rankWord = (path: string, word: string): number | null => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name === word) return ranks.sameName;
  if (name.startsWith(word)) return ranks.nameStart;
  if (name.includes(word)) return ranks.inName;
  if (path.includes(word)) return ranks.inPath;
  const between = countBetween(path, word);
  return between === null ? null : ranks.letters + between;
};

/** Returns the words of a search, as `rankPaths` takes them. */
export const toWords = (search: string): string[] =>
  search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');

type Rank = {
  /** Smaller for a better match. */
  sum: number;
  /** The path contains each word unchanged. */
  hasWords: boolean;
};

/** Returns null if the path lacks a letter of a word. */
const rankPath = (path: string, words: readonly string[]): Rank | null => {
  const folded = path.toLowerCase();
  const rank: Rank = { sum: 0, hasWords: true };
  for (const word of words) {
    const one = rankWord(folded, word);
    if (one === null) return null;
    rank.sum += one;
    rank.hasWords &&= one < ranks.letters;
  }
  return rank;
};

/**
 * Sorts items whose path matches: best first, short paths before long paths. If paths contain the words unchanged, only
 * these paths match. Without words, the order is unchanged.
 */
export const rankPaths = <Item>(
  items: readonly Item[],
  words: readonly string[],
  pathOf: (item: Item) => string,
): Item[] => {
  if (words.length === 0) return [...items];
  const ranked = items.flatMap((item) => {
    const path = pathOf(item);
    const rank = rankPath(path, words);
    return rank === null ? [] : [{ item, ...rank, length: path.length }];
  });
  const exact = ranked.filter(({ hasWords }) => hasWords);
  return (exact.length > 0 ? exact : ranked)
    .toSorted((one, other) => one.sum - other.sum || one.length - other.length)
    .map(({ item }) => item);
};
