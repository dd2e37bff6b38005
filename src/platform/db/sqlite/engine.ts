import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
  type RawBuilder,
} from 'kysely';
import { StartFailure } from '../../errors.ts';
import { mapValue, isConstant } from '../compiled_query.ts';
import { sqliteDdl } from '../ddl_keywords.ts';
import type { QuerySync, EngineParts, OpenOptions } from '../engine.ts';
import { countStatement } from '../statement_meter.ts';
import { processName } from '../process_name.ts';
import { noteReadTables } from '../read_tables.ts';
import type { Schema } from '../schema/database.ts';
import { locationToRead } from './readonly.ts';
import { isBusy, isForeignKey, isFull, isUnique, isUnopenable } from './errors.ts';
import { TableCollector, TableVersions } from './table_versions.ts';
import { SqliteWriter, type Turn } from './writer.ts';

/** 3.51.3 fixes a bug that could corrupt databases in WAL mode. */
export const oldestSqlite = '3.51.3';
const maxStatements = 500;

const pragmas = [
  'pragma journal_mode = wal',
  'pragma synchronous = full',
  'pragma foreign_keys = on',
  'pragma busy_timeout = 5000',
  'pragma trusted_schema = off',
  'pragma cell_size_check = on',
  'pragma cache_size = -8000',
  'pragma temp_store = memory',
  // Pages, four times the default. Assigning a job writes eight pages, and a request that meets a checkpoint waits
  // for it.
  'pragma wal_autocheckpoint = 4000',
];

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
  /** Whether it returns the same on each handle of the database. */
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
class Handle {
  readonly database: DatabaseSync;
  readonly #prepared = new Map<string, Prepared>();
  readonly #tables: TableCollector;
  readonly #versions: TableVersions | null;

  /** @param versions counts what is written; null: the handle only reads */
  constructor(database: DatabaseSync, versions: TableVersions | null = null) {
    this.database = database;
    this.#tables = new TableCollector(database);
    this.#versions = versions;
  }

  /** Returns the tables that a statement reads; null: they do not say all. */
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

  #prepare(text: string): Prepared {
    const existing = this.#prepared.get(text);
    if (existing !== undefined) return existing;
    if (this.#prepared.size >= maxStatements) this.#prepared.delete(this.#prepared.keys().next().value ?? '');
    const { statement, writes, reads: tables } = this.#tables.prepare(text);
    const columns = statement.columns().map(({ name }) => name);
    const shape = makeShape(columns);
    const reads = text.includes('data_version') ? null : tables;
    const isPlainRead = shape !== null && writes.length === 0 && reads !== null;
    const prepared = { statement, columns, shape, writes, reads, isPlainRead };
    // The row id of a run may belong to the search index and exceed 2^53.
    if (prepared.shape === null) statement.setReadBigInts(true);
    else statement.setReturnArrays(true);
    this.#prepared.set(text, prepared);
    return prepared;
  }
}

/** A transaction in progress, whose statements go to the writer. */
type Writing = { turn: Turn; writer: SqliteWriter; handle: Handle };

type ReadQuery = (text: string, parameters: readonly unknown[]) => QueryResult<unknown>;

class SqliteConnection implements DatabaseConnection {
  readonly #read: ReadQuery;
  #writing: Writing | null = null;

  constructor(read: ReadQuery) {
    this.#read = read;
  }

  beginWriting(writing: Writing): void {
    this.#writing = writing;
  }

  get turn(): Turn {
    if (this.#writing === null) throw new Error('no transaction is open');
    return this.#writing.turn;
  }

  run(text: string, parameters: readonly unknown[]): QueryResult<unknown> {
    const started = performance.now();
    const writing = this.#writing;
    try {
      if (writing === null) return this.#read(text, parameters);
      const { turn, writer, handle } = writing;
      return writer.run(turn, () => handle.run(text, parameters));
    } finally {
      countStatement(text, started);
    }
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return this.run(text, parameters) as QueryResult<R>;
  }

  // eslint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not supported: use pages');
  }
}

/** Moves the WAL into the database. On a full or read-only disk the WAL stays, and the next process reads it. */
const checkpoint = (database: DatabaseSync): void => {
  try {
    database.exec('pragma wal_checkpoint(truncate)');
  } catch {
    // Committed data is safe in the WAL.
  }
};

/**
 * Runs transactions on the writer, and reads there, too, while no transaction is open: each commit empties the page
 * cache of every other handle. Other reads run on a read-only handle, which sees only committed data.
 */
class SqliteDriver implements Driver {
  readonly #reader: Handle;
  readonly #outside: SqliteConnection;
  readonly #writing: Omit<Writing, 'turn'> | null;
  readonly versions: TableVersions | null;

  /** @param writer null: read-only */
  constructor(reader: DatabaseSync, writer: DatabaseSync | null, onFatal: (error: unknown) => void) {
    this.#reader = new Handle(reader);
    this.#outside = new SqliteConnection(this.#read);
    const versions = writer === null ? null : new TableVersions(writer);
    this.versions = versions;
    this.#writing =
      writer === null || versions === null
        ? null
        : {
            handle: new Handle(writer, versions),
            writer: new SqliteWriter(writer, onFatal, undefined, (isCommitted) => versions.end(isCommitted)),
          };
  }

  /** Runs a query synchronously, outside of transactions. */
  querySync: QuerySync = (text, parameters, connection) => {
    const connected = connection instanceof SqliteConnection ? connection : this.#outside;
    return connected.run(text, parameters).rows;
  };

  readTables(text: string): readonly string[] | null {
    return this.#reader.readsOf(text);
  }

  async init(): Promise<void> {}

  #read: ReadQuery = (text, parameters) => {
    const writing = this.#writing;
    if (writing?.writer.isIdle !== true) return this.#reader.run(text, parameters);
    try {
      return writing.handle.read(text, parameters) ?? this.#reader.run(text, parameters);
    } catch (error) {
      // Another process has the database for itself, for which only the reader waits.
      if (!isBusy(error)) throw error;
      return this.#reader.run(text, parameters);
    }
  };

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this.#read);
  }

  async beginTransaction(connection: SqliteConnection): Promise<void> {
    if (this.#writing === null) throw new Error('the store is open for reading only');
    connection.beginWriting({ turn: await this.#writing.writer.begin(), ...this.#writing });
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    await this.#writing?.writer.commit(connection.turn);
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    await this.#writing?.writer.rollback(connection.turn);
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    if (!this.#reader.database.isOpen) return;
    await this.#writing?.writer.close();
    this.#reader.database.close();
    if (this.#writing === null) return;
    const { database } = this.#writing.handle;
    checkpoint(database);
    database.close();
  }
}

/** Reports several connections: Kysely serializes all use of a single one, which would prevent group commit. */
class SharedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

const limitEnd = 'limit ';

/**
 * Writes limits, and constants of a compiled query, into its text. SQLite replans with each value bound to a limit, or
 * to a column of a partial index, which takes far longer than a lookup.
 */
class ConstantCompiler extends SqliteQueryCompiler {
  #isAfterLimit = false;

  protected override append(text: string): void {
    this.#isAfterLimit = text.endsWith(limitEnd);
    super.append(text);
  }

  protected override appendValue(value: unknown): void {
    const isLimit = this.#isAfterLimit && Number.isSafeInteger(value);
    if (isLimit || isConstant(value)) this.appendImmediateValue(value);
    else super.appendValue(value);
  }
}

const damaged = (file: string, error: unknown): StartFailure =>
  new StartFailure(
    `the database ${file} cannot be read (${error instanceof Error ? error.message : String(error)}): ` +
      (isUnopenable(error)
        ? 'check that the folder can be written to'
        : 'restore it from a backup, or name another folder with --data'),
  );

const openHandle = (file: string, readOnly: boolean, location: string | URL = file): DatabaseSync => {
  try {
    const database = new DatabaseSync(location, { readOnly });
    for (const pragma of readOnly ? pragmas.slice(2) : pragmas) database.exec(pragma);
    const { synchronous } = database.prepare('pragma synchronous').get() as { synchronous: number };
    if (!readOnly && synchronous !== 2) throw new Error('synchronous=FULL did not hold');
    database.prepare('select count(*) from sqlite_schema').get();
    return database;
  } catch (error) {
    throw damaged(file, error);
  }
};

const isOlder = (version: string, than: string): boolean =>
  version.localeCompare(than, undefined, { numeric: true }) < 0;

export const openEngine = (options: OpenOptions): EngineParts => {
  const { sqlite } = process.versions;
  if (sqlite === undefined || isOlder(sqlite, oldestSqlite)) {
    throw new StartFailure(`SQLite ${oldestSqlite} or newer is needed; this Node carries ${sqlite}`);
  }
  const { file, readOnly = false } = options;
  const writer = readOnly ? null : openHandle(file, false);
  const reader = openHandle(file, true, readOnly ? locationToRead(file) : file);
  const driver = new SqliteDriver(reader, writer, options.onFatal);
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SharedAdapter(),
      createDriver: () => driver,
      createIntrospector: (any) => new SqliteIntrospector(any),
      createQueryCompiler: () => new ConstantCompiler(),
    },
  });
  const close = async (): Promise<void> => {
    await db.destroy();
    await driver.destroy(); // the query builder only ends a driver that it has used
  };
  return {
    db,
    querySync: driver.querySync,
    readTables: (text) => driver.readTables(text),
    ...(driver.versions && {
      tableVersion: (tables, isInside) => driver.versions?.read(tables, isInside) ?? null,
    }),
    ddl: sqliteDdl,
    dialect,
    // The database belongs to one process.
    notifyProcesses: async () => undefined,
    listenToProcesses: async () => async () => undefined,
    runExclusively: async (_name, work) => await work(),
    takePlace: async () => () => undefined,
    close,
  };
};

/** SQLite locks the whole database, so rows need no locks. */
const dialect: EngineParts['dialect'] = {
  engine: 'sqlite',
  oneOf: (column, values): RawBuilder<boolean> =>
    sql`${sql.ref(column)} in (select value from json_each(${mapValue(values, JSON.stringify)}))`,
  eachOf: (rows) => sql`json_each(${mapValue(rows, JSON.stringify)})`,
  indexedBy: (index) => sql`indexed by ${sql.id(index)}`,
  jsonRows: (values, order) => sql`json_group_array(json_array(${sql.join(values)}) order by ${order})`,
  // On the read handle, it rises with each commit of the writer.
  state: sql`select cast(data_version as text) as state from pragma_data_version`,
  facts: sql`select sqlite_version() as version, page_count * page_size as size
    from pragma_page_count, pragma_page_size`,
  // Only one process at a time uses a database file.
  lives: (column) => sql<boolean>`${sql.ref(column)} = ${processName}`,
  forUpdate: sql``,
  forHold: sql``,
  forExclusive: sql``,
  skipLocked: sql``,
};

export const isUniqueViolation = isUnique;
export const isForeignKeyViolation = isForeignKey;
export const isStoreFull = isFull;
export const isUnreachable = isBusy;
export const isConflict = (_error: unknown): boolean => false;
export const isLockTimeout = (_error: unknown): boolean => false;
