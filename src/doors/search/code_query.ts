/** What a search of code looks for. Pure. */
import { escapeLike } from '../../platform/db/contains_text.ts';
import { invalid } from '../../platform/errors.ts';
import { lowerAscii } from '../../platform/unicode.ts';

export type CodeQuery = {
  /** Part of the content or of the path, ignoring the case of A to Z. */
  text: string;
  /** For each filter, patterns of `like` with `\` as escape; the path must match one of them. */
  paths: string[][];
};

/** Shorter texts have no trigram, so a search would read every file. */
const minTextLength = 3;

const filter = /(?<!\S)(filename|path|extension):(\S+)/g;

const toLike = (value: string): string => escapeLike(lowerAscii(value)).replaceAll('*', '%');

/** Path pattern of a filter; `*` matches any text. */
const toPatterns = (name: string, value: string): string[] => {
  const like = toLike(value);
  if (name === 'extension') return [`%.${like.replace(/^\./, '')}`];
  return name === 'path' ? [`%${like}%`] : [like, `%/${like}`];
};

/**
 * Parses a search: words `filename:`, `path:` and `extension:` limit the files, and the rest is one text.
 * @throws Failure 400 for a text that is too short
 */
export const parseCodeQuery = (search: string): CodeQuery => {
  const paths = [...search.matchAll(filter)].map(([, name = '', value = '']) => toPatterns(name, value));
  const text = search.replaceAll(filter, ' ').trim();
  if ([...text].length < minTextLength) {
    throw invalid({ search: [`is too short (minimum is ${minTextLength} characters)`] });
  }
  return { text, paths };
};
