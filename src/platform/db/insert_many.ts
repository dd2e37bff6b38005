import type { Insertable } from 'kysely';
import { insertRows } from './insert.ts';
import type { Tx } from './open.ts';
import type { Schema } from './schema/database.ts';

/** Rows of one statement. Batches are powers of two, so that few prepared statements serve any number of rows. */
const maxRows = 128;

/** Inserts any number of rows. All must have the same columns. */
export const insertMany = async <T extends keyof Schema>(
  tx: Tx,
  table: T,
  rows: readonly Insertable<Schema[T]>[],
  ending: '' | `on conflict ${string}` = '',
): Promise<void> => {
  for (let done = 0, size = maxRows; done < rows.length; done += size) {
    while (size > rows.length - done) size /= 2;
    await insertRows(tx.db, table, rows.slice(done, done + size), ending);
  }
};
