/** What a `search` parameter looks for, the same on either store: every term has to occur. */
import { foldCase } from '../../../platform/unicode.ts';

/** Characters (code points) below which a word is too common to look for. */
const MIN_WORD_LENGTH = 3;

/** A quoted phrase that stands alone between blanks, or a word. */
const WORD = /(?<!\S)"([^"]+)"(?!\S)|\S+/g;

/**
 * The folded terms of a search, each once: words between blanks, a "quoted phrase" as one, and none
 * shorter than three characters. If that leaves nothing, the whole trimmed text is the only term.
 * Empty for a blank text, which is no search.
 */
export function searchTerms(text: string): string[] {
  const folded = foldCase(text);
  const terms = new Set<string>();
  for (const [word, phrase] of folded.matchAll(WORD)) {
    const term = phrase ?? word;
    if ([...term].length >= MIN_WORD_LENGTH) terms.add(term);
  }
  if (terms.size > 0) return [...terms];
  const whole = folded.trim();
  return whole === '' ? [] : [whole];
}
