import { type RawBuilder, sql } from 'kysely';

/** As `lower` does it on both engines: the letters A to Z, no others. */
const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Whether a column holds a text, in any case; `%` and `_` stand for themselves. */
export const contains = (column: string, text: string): RawBuilder<boolean> => {
  const pattern = `%${lower(text).replace(/[%_\\]/g, '\\$&')}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
};
