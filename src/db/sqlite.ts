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
import { StartFailure } from '../errors.ts';
import { changed, isConstant } from './compiled.ts';
import { sqliteDdl } from './ddl.ts';
import type { AskNow, EngineParts, OpenOptions } from './engine.ts';
import { countStatement } from './meter.ts';
import { processName } from './process.ts';
import type { Schema } from './schema.ts';
import { locationToRead } from './sqlite_readonly.ts';
import { isBusy, isForeignKey, isFull, isUnique, isUnopenable } from './sqlite_errors.ts';
import { SqliteWriter, type Turn } from './sqlite_writer.ts';

/** 3.51.3 mends a bug that could damage a database in WAL mode. */
export const oldestSqlite = '3.51.3';
const mostStatements = 500;

const pragmas = [
  'pragma journal_mode = wal',
  'pragma synchronous = full',
  'pragma foreign_keys = on',
  'pragma busy_timeout = 5000',
  'pragma trusted_schema = off',
  'pragma cell_size_check = on',
  'pragma cache_size = -8000',
  'pragma temp_store = memory',
  // Pages, four times the usual: a job that is given away writes eight, and who meets a checkpoint waits for it.
  'pragma wal_autocheckpoint = 4000',
];

type Row = Record<string, unknown>;

/** `shape`: a row of nulls, null where there are no rows. Tables change at the start alone, before they are asked. */
type Prepared = { statement: StatementSync; columns: string[]; shape: Row | null };

/** Parsed, for V8 makes a hash table of what gets many properties one by one. */
const shapeOf = (columns: readonly string[]): Row | null =>
  columns.length === 0
    ? null
    : (JSON.parse(`{${columns.map((name) => `${JSON.stringify(name)}:null`).join()}}`) as Row);

/** Objects of one shape: those that the driver makes of rows are hash tables, twice as large, and slower to read. */
const rowOf = (columns: readonly string[], shape: Row, values: readonly unknown[]): Row => {
  const row = { ...shape };
  for (let at = 0; at < columns.length; at += 1) row[columns[at] ?? ''] = values[at];
  return row;
};

/** One SQLite handle with its prepared statements, keyed by their text. */
class Handle {
  readonly database: DatabaseSync;
  readonly #prepared = new Map<string, Prepared>();

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  run(text: string, parameters: readonly unknown[]): QueryResult<unknown> {
    const { statement, columns, shape } = this.#prepare(text);
    const values = parameters as SQLInputValue[];
    if (shape !== null) {
      const all = statement.all(...values) as unknown as unknown[][];
      const rows = all.map((one) => rowOf(columns, shape, one));
      return { rows, numAffectedRows: BigInt(rows.length) };
    }
    const { changes } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    if (this.#prepared.size >= mostStatements)
      this.#prepared.delete(this.#prepared.keys().next().value ?? '');
    const statement = this.database.prepare(text);
    const columns = statement.columns().map(({ name }) => name);
    const prepared = { statement, columns, shape: shapeOf(columns) };
    // The row id that a run tells beside its changes may be one of the search index's own, beyond 2^53.
    if (prepared.shape === null) statement.setReadBigInts(true);
    else statement.setReturnArrays(true);
    this.#prepared.set(text, prepared);
    return prepared;
  }
}

/** A transaction in progress: its statements go to the writer. */
type Writing = { turn: Turn; writer: SqliteWriter; handle: Handle };

class SqliteConnection implements DatabaseConnection {
  readonly #reader: Handle;
  #writing: Writing | null = null;

  constructor(reader: Handle) {
    this.#reader = reader;
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
      if (writing === null) return this.#reader.run(text, parameters);
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
    throw new Error('streaming is not offered: ask for pages');
  }
}

/** Moves the log into the database. On a disk that is full or read-only it stays, and the next process reads it. */
const checkpoint = (database: DatabaseSync): void => {
  try {
    database.exec('pragma wal_checkpoint(truncate)');
  } catch {
    // What was committed is on disk in the log.
  }
};

/** Reads go to a read-only handle and see only what is committed; a transaction takes the writer. */
class SqliteDriver implements Driver {
  readonly #reader: Handle;
  readonly #outside: SqliteConnection;
  readonly #writing: Omit<Writing, 'turn'> | null;

  /** @param writer null: nothing is written */
  constructor(reader: DatabaseSync, writer: DatabaseSync | null, onFatal: (error: unknown) => void) {
    this.#reader = new Handle(reader);
    this.#outside = new SqliteConnection(this.#reader);
    this.#writing =
      writer === null ? null : { handle: new Handle(writer), writer: new SqliteWriter(writer, onFatal) };
  }

  /** Outside of a transaction: reads. */
  askNow: AskNow = (text, parameters, connection) => {
    const asked = connection instanceof SqliteConnection ? connection : this.#outside;
    return asked.run(text, parameters).rows;
  };

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this.#reader);
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

/** Kysely lets one connection at a time work where it is told that there is but one: then nothing shares a commit. */
class SharedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/**
 * Writes what never changes into the text of a kept query: SQLite plans anew with each value that is bound to a limit,
 * or to a column that a partial index names, which takes far longer than to look something up.
 */
class ConstantCompiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (isConstant(value)) this.appendImmediateValue(value);
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
    await driver.destroy(); // the query builder ends only a driver that it has used
  };
  return {
    db,
    askNow: driver.askNow,
    ddl: sqliteDdl,
    words,
    // The database belongs to one process.
    tellOthers: async () => undefined,
    hearOthers: async () => async () => undefined,
    close,
  };
};

/** SQLite locks the whole database, so a row needs no lock of its own. */
const words: EngineParts['words'] = {
  engine: 'sqlite',
  oneOf: (column, values): RawBuilder<boolean> =>
    sql`${sql.ref(column)} in (select value from json_each(${changed(values, JSON.stringify)}))`,
  eachOf: (rows) => sql`json_each(${changed(rows, JSON.stringify)})`,
  indexedBy: (index) => sql`indexed by ${sql.id(index)}`,
  jsonRows: (values, order) => sql`json_group_array(json_array(${sql.join(values)}) order by ${order})`,
  // Of the handle that reads: it rises with each commit of the writer.
  state: sql`select cast(data_version as text) as state from pragma_data_version`,
  // A file has one process at a time.
  lives: (column) => sql<boolean>`${sql.ref(column)} = ${processName}`,
  forUpdate: sql``,
  skipLocked: sql``,
};

export const isUniqueViolation = isUnique;
export const isForeignKeyViolation = isForeignKey;
export const isStoreFull = isFull;
export const isUnreachable = isBusy;
export const isConflict = (_error: unknown): boolean => false;
