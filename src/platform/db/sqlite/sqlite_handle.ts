import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { QueryResult } from 'kysely';
import { noteReadTables } from '../read_tables.ts';
import { TableCollector, type TableVersions } from './table_versions.ts';

/** Prepared statements of each of the two generations that one handle caches. */
const maxStatements = 250;

type Row = Record<string, unknown>;

/**
 * `shape`: a row of nulls; null if the statement returns no rows. The schema changes only at startup, before queries
 * run.
 */
type Prepared = {
  statement: StatementSync;
  columns: string[];
  shape: Row | null;
  /** Tables that it writes. */
  writes: readonly string[];
  /** Tables that it reads; null: it also reads the handle's own counter of commits. */
  reads: readonly string[] | null;
  /** True if it returns the same result on each handle of the database. */
  isPlainRead: boolean;
};

/** Builds the row of nulls by parsing JSON, because V8 turns objects that grow many properties into hash tables. */
const makeShape = (columns: readonly string[]): Row | null =>
  columns.length === 0
    ? null
    : (JSON.parse(`{${columns.map((name) => `${JSON.stringify(name)}:null`).join()}}`) as Row);

/** Builds rows of one V8 shape. Rows of the driver are hash tables, twice as large and slower to read. */
const toRow = (columns: readonly string[], shape: Row, values: readonly unknown[]): Row => {
  const row = { ...shape };
  for (let at = 0; at < columns.length; at += 1) row[columns[at] ?? ''] = values[at];
  return row;
};

/** One SQLite handle with its prepared statements, cached by text. */
export class Handle {
  readonly database: DatabaseSync;
  /** Statements used since the generation began, and those of the generation before. */
  #recent = new Map<string, Prepared>();
  #older = new Map<string, Prepared>();
  readonly #tables: TableCollector;
  readonly #versions: TableVersions | null;

  /** @param versions counts what is written; null: the handle only reads */
  constructor(database: DatabaseSync, versions: TableVersions | null = null) {
    this.database = database;
    this.#tables = new TableCollector(database);
    this.#versions = versions;
  }

  /** Returns the tables that a statement reads; null if they do not say all. */
  readsOf(text: string): readonly string[] | null {
    return this.#prepare(text).reads;
  }

  run(text: string, parameters: readonly unknown[]): QueryResult<unknown> {
    return this.#execute(this.#prepare(text), parameters);
  }

  /** Runs a statement that returns the same on each handle; null: this one does not. */
  read(text: string, parameters: readonly unknown[]): QueryResult<unknown> | null {
    const prepared = this.#prepare(text);
    return prepared.isPlainRead ? this.#execute(prepared, parameters) : null;
  }

  #execute(prepared: Prepared, parameters: readonly unknown[]): QueryResult<unknown> {
    const { statement, columns, shape, writes, reads } = prepared;
    this.#versions?.write(writes);
    noteReadTables(reads);
    const values = parameters as SQLInputValue[];
    if (shape !== null) {
      const all = statement.all(...values) as unknown as unknown[][];
      const rows = all.map((one) => toRow(columns, shape, one));
      return { rows, numAffectedRows: BigInt(rows.length) };
    }
    const { changes } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  /** A repeated use reads one map and changes none. */
  #prepare(text: string): Prepared {
    const recent = this.#recent.get(text);
    if (recent !== undefined) return recent;
    const prepared = this.#older.get(text) ?? this.#make(text);
    if (this.#recent.size >= maxStatements) [this.#older, this.#recent] = [this.#recent, new Map()];
    this.#recent.set(text, prepared);
    return prepared;
  }

  #make(text: string): Prepared {
    const { statement, writes, reads: tables } = this.#tables.prepare(text);
    const columns = statement.columns().map(({ name }) => name);
    const shape = makeShape(columns);
    const reads = text.includes('data_version') ? null : tables;
    const isPlainRead = shape !== null && writes.length === 0 && reads !== null;
    const prepared = { statement, columns, shape, writes, reads, isPlainRead };
    // The row id of a run may belong to the search index and exceed 2^53.
    if (prepared.shape === null) statement.setReadBigInts(true);
    else statement.setReturnArrays(true);
    return prepared;
  }
}
