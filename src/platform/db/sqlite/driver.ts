import type { DatabaseSync } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import type { QuerySync } from '../engine.ts';
import { countStatement } from '../statement_meter.ts';
import { isBusy } from './errors.ts';
import { Handle } from './sqlite_handle.ts';
import type { LogSync } from './log_sync.ts';
import { TableVersions } from './table_versions.ts';
import { SqliteWriter, type Turn } from './writer.ts';

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
export class SqliteDriver implements Driver {
  readonly #reader: Handle;
  readonly #outside: SqliteConnection;
  readonly #writing: Omit<Writing, 'turn'> | null;
  readonly versions: TableVersions | null;
  readonly #log: LogSync | null;

  /** @param writer null: read-only */
  constructor(
    reader: DatabaseSync,
    writer: { database: DatabaseSync; log: LogSync } | null,
    onFatal: (error: unknown) => void,
  ) {
    this.#reader = new Handle(reader);
    this.#outside = new SqliteConnection(this.#read);
    this.#log = writer?.log ?? null;
    const versions = writer === null ? null : new TableVersions(writer.database);
    this.versions = versions;
    this.#writing =
      writer === null || versions === null
        ? null
        : {
            handle: new Handle(writer.database, versions),
            writer: new SqliteWriter(writer.database, {
              sync: writer.log.sync,
              onFatal,
              onEnd: (isCommitted) => versions.end(isCommitted),
            }),
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

  /** Lets the open transaction resolve before it is on disk. */
  relax(connection: DatabaseConnection): void {
    if (connection instanceof SqliteConnection) connection.turn.isDurable = false;
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
    this.#log?.close();
  }
}
