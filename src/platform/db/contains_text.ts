import { type RawBuilder, sql } from 'kysely';

/** Lower-cases the letters A to Z only, as both engines do. */
const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Condition: a column contains a text, in any case. `%` and `_` are literal. */
export const containsText = (column: string, text: string): RawBuilder<boolean> => {
  const pattern = `%${lower(text).replace(/[%_\\]/g, '\\$&')}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
};
