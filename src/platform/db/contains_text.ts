/** Conditions that a column contains a text. */
import { type RawBuilder, sql } from 'kysely';
import { lowerAscii } from '../unicode.ts';

/** Escapes what is special in a pattern of `like ... escape '\\'`. */
export const escapeLike = (text: string): string => text.replace(/[%_\\]/g, String.raw`\$&`);

/** Returns the pattern of `like ... escape '\\'` that finds a text anywhere. */
export const likePattern = (text: string): string => `%${escapeLike(text)}%`;

/** `like` compares a text again from each place where its start occurs, so it gets only so many characters. */
const maxLikeLength = 32;

/**
 * Condition: an expression contains a text as it is. A long text is looked for by `replace`, which compares bytes at
 * once; the start of the text leaves it few rows, and can use an index of trigrams.
 */
export const containsExactly = (expression: RawBuilder<unknown>, text: string): RawBuilder<boolean> => {
  const characters = [...text];
  const start = characters.slice(0, maxLikeLength).join('');
  const isLike = sql<boolean>`${expression} like ${likePattern(start)} escape '\\'`;
  if (characters.length <= maxLikeLength) return isLike;
  return sql`(${isLike} and replace(${expression}, ${text}, '') <> ${expression})`;
};

/** Condition: a column contains a text, in any case. `%` and `_` are literal. */
export const containsText = (column: string, text: string): RawBuilder<boolean> =>
  containsExactly(sql`lower(${sql.ref(column)})`, lowerAscii(text));
