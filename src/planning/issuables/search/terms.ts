/** Splits a `search` parameter into terms, which must all occur. Both databases search for the same terms. */
import { foldCase } from '../../../platform/unicode.ts';

/** Minimum code points of a word. Shorter words are too common. */
const minWordLength = 3;

/** A quoted phrase between blanks, or a word. */
const phraseOrWord = /(?<!\S)"([^"]+)"(?!\S)|\S+/g;

/**
 * Returns the distinct folded terms of a search: words and "quoted phrases" of at least three characters. If there are
 * none, the whole trimmed text is the only term. Empty for a blank text.
 */
export const searchTerms = (text: string): string[] => {
  const folded = foldCase(text);
  const terms = new Set<string>();
  for (const [word, phrase] of folded.matchAll(phraseOrWord)) {
    const term = phrase ?? word;
    if ([...term].length >= minWordLength) terms.add(term);
  }
  if (terms.size > 0) return [...terms];
  const whole = folded.trim();
  return whole === '' ? [] : [whole];
};
