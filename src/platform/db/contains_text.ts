/** Conditions that a column contains a text. */
import { type RawBuilder, sql } from 'kysely';
import { lowerAscii } from '../unicode.ts';

/** Escapes what is special in a pattern of `like ... escape '\\'`. */
export const escapeLike = (text: string): string => text.replace(/[%_\\]/g, String.raw`\$&`);

/** Returns the pattern of `like ... escape '\\'` that finds a text anywhere. */
export const likePattern = (text: string): string => `%${escapeLike(text)}%`;

/** Condition: a column contains a text, in any case. `%` and `_` are literal. */
export const containsText = (column: string, text: string): RawBuilder<boolean> =>
  sql<boolean>`lower(${sql.ref(column)}) like ${likePattern(lowerAscii(text))} escape '\\'`;
