import { type RawBuilder, sql } from 'kysely';

/** Both engines fold only these, so that they find the same. */
const lower = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Whether one of the columns contains the text somewhere, in any case of the letters A to Z. */
export const contains = (columns: string[], text: string): RawBuilder<boolean> => {
  const pattern = `%${lower(text).replaceAll(/[%_\\]/g, '\\$&')}%`;
  const parts = columns.map((column) => sql`lower(${sql.ref(column)}) like ${pattern} escape '\\'`);
  return sql<boolean>`(${sql.join(parts, sql` or `)})`;
};
