/** Ranks paths for a fuzzy search: letters must occur in their order, with gaps allowed. Pure; browsers use it, too. */

/** Further words of a search are ignored. */
const maxWords = 8;
/** A longer path matches no word. */
const maxLength = 1_000;
/** Characters of paths that are read for all words of a search, which takes some 20 milliseconds. */
const maxRead = 20_000_000;
/** A path costs as much as this many characters in addition to its own. */
const costOfPath = 50;

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

/** Returns the distinct words of a search, as `rankPaths` takes them. */
export const toWords = (search: string): string[] => {
  const words = new Set(search.toLowerCase().split(/\s+/));
  words.delete('');
  return [...words].slice(0, maxWords);
};

type Rank = {
  /** Smaller for a better match. */
  sum: number;
  /** The path contains each word unchanged. */
  hasWords: boolean;
};

/** @property left characters that are still read */
type Budget = { left: number };

/** Returns null if the path lacks a letter of a word. */
const rankPath = (path: string, words: readonly string[], budget: Budget): Rank | null => {
  budget.left -= costOfPath;
  if (path.length > maxLength) return null;
  const folded = path.toLowerCase();
  const rank: Rank = { sum: 0, hasWords: true };
  for (const word of words) {
    budget.left -= path.length;
    const wordRank = rankWord(folded, word);
    if (wordRank === null) return null;
    rank.sum += wordRank;
    rank.hasWords &&= wordRank < ranks.letters;
  }
  return rank;
};

export type RankedPaths<Item> = {
  items: Item[];
  /** The search ended before the last path. */
  isCut: boolean;
};

/**
 * Sorts items whose path matches: best first, short paths before long paths. If paths contain the words unchanged, only
 * these paths match. Without words, the order is unchanged. Bounded in time: of very many paths, the last are left out.
 */
export const rankPaths = <Item>(
  items: readonly Item[],
  words: readonly string[],
  pathOf: (item: Item) => string,
): RankedPaths<Item> => {
  if (words.length === 0) return { items: [...items], isCut: false };
  const budget: Budget = { left: maxRead };
  let read = 0;
  const ranked: (Rank & { item: Item; length: number })[] = [];
  for (const item of items) {
    if (budget.left <= 0) break;
    read += 1;
    const path = pathOf(item);
    const rank = rankPath(path, words, budget);
    if (rank !== null) ranked.push({ item, sum: rank.sum, hasWords: rank.hasWords, length: path.length });
  }
  const exact = ranked.filter(({ hasWords }) => hasWords);
  const sorted = (exact.length > 0 ? exact : ranked)
    .toSorted((one, other) => one.sum - other.sum || one.length - other.length)
    .map(({ item }) => item);
  return { items: sorted, isCut: read < items.length };
};
