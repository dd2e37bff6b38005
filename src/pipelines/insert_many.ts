import type { Insertable } from 'kysely';
import { insertRows } from '../db/insert.ts';
import type { Tx } from '../db/open.ts';
import type { Schema } from '../db/schema.ts';

/** Rows a statement: powers of two, so that few texts of SQL serve any number. */
const mostRows = 128;

/** Inserts any number of rows that all have the same columns. */
export const insertMany = async <T extends keyof Schema>(
  tx: Tx,
  table: T,
  rows: readonly Insertable<Schema[T]>[],
  ending: '' | 'on conflict do nothing' = '',
): Promise<void> => {
  for (let done = 0, size = mostRows; done < rows.length; done += size) {
    while (size > rows.length - done) size /= 2;
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    await insertRows(tx.db, table, rows.slice(done, done + size), ending);
  }
};
