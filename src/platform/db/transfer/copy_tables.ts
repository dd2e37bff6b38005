/** Copies all tables from one database to another and compares them row by row. */
import { hash } from 'node:crypto';
import { StartFailure } from '../../errors.ts';
import type { Row, Table, TableReader, TableWriter } from './table_reader.ts';

/** A column that says whether the engine's own search index has the row. The target fills its index again. */
const indexedColumn = 'indexed';

const forgetIndexed = ({ columns }: Table): ((row: Row) => Row) => {
  const at = columns.indexOf(indexedColumn);
  return at === -1 ? (row) => row : (row) => row.with(at, 0);
};

/** The number of rows, and a digest that does not depend on their order. */
export type TableDigest = { rows: number; digest: string };

const lanes = 4;

/** Sums the digests of rows, so that neither order nor batches matter, and equal rows do not cancel out. */
const makeDigest = () => {
  const sums = new Uint32Array(lanes);
  let rows = 0;
  return {
    add: (row: Row): void => {
      const text = JSON.stringify(
        row.map((value) => (value instanceof Uint8Array ? { bytes: hash('sha256', value) } : value)),
      );
      const bytes = hash('sha256', text, 'buffer');
      for (let lane = 0; lane < lanes; lane += 1)
        sums[lane] = (sums[lane] ?? 0) + bytes.readUInt32LE(lane * 4);
      rows += 1;
    },
    result: (): TableDigest => ({ rows, digest: Buffer.from(sums.buffer).toString('hex') }),
  };
};

/** Reads a table and computes its digest. */
const digestTable = async (source: TableReader, table: Table): Promise<TableDigest> => {
  const digest = makeDigest();
  for await (const rows of source.rows(table)) for (const row of rows) digest.add(row);
  return digest.result();
};

const copyTable = async (
  { source, target }: { source: TableReader; target: TableWriter },
  table: Table,
  onRows: (count: number) => void,
): Promise<TableDigest> => {
  const digest = makeDigest();
  const toTarget = forgetIndexed(table);
  for await (const batch of source.rows(table)) {
    const rows = batch.map(toTarget);
    for (const row of rows) digest.add(row);
    await target.insert(table, rows);
    onRows(rows.length);
  }
  return digest.result();
};

const formatTables = (tables: readonly Table[]): string =>
  tables.map(({ name, columns }) => `${name} ${columns.toSorted().join()}`).join('\n');

const requireSameTables = (from: readonly Table[], to: readonly Table[]): void => {
  if (formatTables(from) === formatTables(to)) return;
  throw new StartFailure(
    'the two databases have different tables: migrate both to the schema of this version',
  );
};

/** Calls back with the rows copied so far, of all rows. */
export type OnCopied = (done: number, total: number) => void;

const countAll = async (source: TableReader, tables: readonly Table[]): Promise<number> => {
  let total = 0;
  for (const table of tables) total += await source.countRows(table);
  return total;
};

const requireSame = (name: string, from: TableDigest, to: TableDigest): void => {
  if (from.rows === to.rows && from.digest === to.digest) return;
  throw new StartFailure(
    `the table ${name} was copied wrongly (${from.rows} rows became ${to.rows}); the target is left empty`,
  );
};

/**
 * Copies all rows and the last ids, reads them back from the target, compares them, and commits. After a failure the
 * target is as it was.
 * @returns the rows of each table
 */
export const copyTables = async (
  source: TableReader,
  target: TableWriter,
  onCopied: OnCopied = () => undefined,
): Promise<{ [table: string]: number }> => {
  try {
    const tables = await source.tables();
    requireSameTables(tables, await target.tables());
    const total = await countAll(source, tables);
    const copied: { [table: string]: number } = {};
    let done = 0;
    for (const table of tables) {
      const sent = await copyTable({ source, target }, table, (count) => onCopied((done += count), total));
      requireSame(table.name, sent, await digestTable(target, table));
      copied[table.name] = sent.rows;
    }
    await target.setSequences(await source.sequences());
    await target.commit();
    return copied;
  } catch (error) {
    await target.rollback().catch(() => undefined);
    throw error;
  }
};
