/** Interface of both engines for copying all tables: names, rows and last assigned ids. */

export type Table = { name: string; columns: readonly string[] };

export type Value = string | number | Uint8Array | null;
/** Values in the order of the table's columns. */
export type Row = readonly Value[];

/** The last id that a table gave out. Ids of deleted rows are never given out again. */
export type Sequence = { table: string; last: number };

export type TableReader = {
  tables: () => Promise<Table[]>;
  countRows: (table: Table) => Promise<number>;
  /** Yields all rows in batches of bounded size, in any order. */
  rows: (table: Table) => AsyncIterable<readonly Row[]>;
  sequences: () => Promise<Sequence[]>;
};

/** Writes into the empty tables of a migrated database, in one transaction without triggers and foreign keys. */
export type TableWriter = TableReader & {
  insert: (table: Table, rows: readonly Row[]) => Promise<void>;
  setSequences: (sequences: readonly Sequence[]) => Promise<void>;
  /** Restores triggers and foreign keys, checks the latter, and commits. */
  commit: () => Promise<void>;
  rollback: () => Promise<void>;
};

const maxBatch = { rows: 500, bytes: 2 * 2 ** 20 };

const estimateBytes = (row: Row): number => {
  let bytes = 0;
  for (const value of row)
    bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
  return bytes;
};

/** Groups rows into batches. */
export const makeBatches = function* makeBatches(rows: Iterable<Row>): Generator<Row[]> {
  let batch: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    batch.push(row);
    bytes += estimateBytes(row);
    if (batch.length < maxBatch.rows && bytes < maxBatch.bytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
};
