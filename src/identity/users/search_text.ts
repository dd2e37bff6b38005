import { type RawBuilder, sql } from 'kysely';
import { containsExactly } from '../../platform/db/contains_text.ts';
import { foldCase } from '../../platform/unicode.ts';

/** Returns the text that user searches match. Names have no line break, so no match spans both. */
export const searchText = ({ name, username }: { name: string; username: string }): string =>
  foldCase(`${name}\n${username}`);

/** Condition: a column of such text contains what was typed, in any case. */
export const containsTyped = (column: string, typed: string): RawBuilder<boolean> =>
  containsExactly(sql.ref(column), foldCase(typed.trim()));
