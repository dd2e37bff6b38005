/** Ranks paths for a search: also by letters that follow each other with others between them. Pure; browsers use it, too. */

/** Ranks of words that a path contains as they are. Beyond them, each letter between those of the word adds one. */
const ranks = { sameName: 0, nameStart: 1, inName: 2, inPath: 3, letters: 4 } as const;

/** Returns how many letters are between those of the word, searched from the end; null: the path lacks one. */
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

/** Returns the words of a search, as `rankPath` takes them. */
export const toWords = (search: string): string[] =>
  search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');

/** Returns a smaller number for a better match; null: the path lacks a word. */
export const rankPath = (path: string, words: readonly string[]): number | null => {
  const folded = path.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const rank = rankWord(folded, word);
    if (rank === null) return null;
    sum += rank;
  }
  return sum;
};

/** Sorts items whose path matches: the best first, short paths before long ones. Without words, all stay as they are. */
export const rankPaths = <Item>(
  items: readonly Item[],
  words: readonly string[],
  pathOf: (item: Item) => string,
): Item[] => {
  if (words.length === 0) return [...items];
  return items
    .flatMap((item) => {
      const path = pathOf(item);
      const rank = rankPath(path, words);
      return rank === null ? [] : [{ item, rank, length: path.length }];
    })
    .toSorted((one, other) => one.rank - other.rank || one.length - other.length)
    .map(({ item }) => item);
};
