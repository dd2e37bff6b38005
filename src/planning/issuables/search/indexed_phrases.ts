/** What a search asks SQLite's index of trigrams for. Pure. */

const trigramLength = 3;

/**
 * Times that a trigram may occur in the terms. The index walks through all places of a trigram in a text once for each
 * time that a phrase has it, so a phrase of 1,000 equal letters would walk through a long text of that letter 1,000
 * times.
 */
const maxRepeats = 4;

/** Trigrams that are asked for instead. The texts that have all of them are few. */
const maxTrigrams = 64;

const listTrigrams = (term: string): string[] => {
  const characters = [...term];
  return characters
    .slice(trigramLength - 1)
    .map((_last, at) => characters.slice(at, at + trigramLength).join(''));
};

const hasRepeats = (trigrams: readonly string[]): boolean => {
  const times = new Map<string, number>();
  return trigrams.some((trigram) => {
    const count = (times.get(trigram) ?? 0) + 1;
    times.set(trigram, count);
    return count > maxRepeats;
  });
};

export type IndexedPhrases = {
  texts: string[];
  /** Whether a text that has these phrases has the terms; otherwise, compare it with them. */
  areExact: boolean;
};

/**
 * Returns the phrases that a text has which has these terms: the terms, or some of their trigrams where these repeat.
 * Each term has at least three characters.
 */
export const indexedPhrases = (terms: readonly string[]): IndexedPhrases => {
  const all = terms.flatMap(listTrigrams);
  if (!hasRepeats(all)) return { texts: [...terms], areExact: true };
  const distinct = [...new Set(all)];
  const step = Math.ceil(distinct.length / maxTrigrams);
  return { texts: distinct.filter((_trigram, at) => at % step === 0), areExact: false };
};

/** Quotes a phrase for `match`. */
export const quotePhrase = (text: string): string => `"${text.replaceAll('"', '""')}"`;
