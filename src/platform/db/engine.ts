import type { DatabaseConnection, Kysely, RawBuilder, Transaction } from 'kysely';
import type { Ddl } from './ddl_keywords.ts';
import type { Schema } from './schema/database.ts';

export type OpenOptions = {
  /** SQLite: path of the database file. */
  file: string;
  /** PostgreSQL: `postgres://...`, the schema, and the maximum number of connections. */
  url?: string;
  schema: string;
  connections: number;
  /** Opening, closing and reading change nothing; a transaction fails. */
  readOnly?: boolean;
  /** Called after an error that forbids acknowledging any more writes. */
  onFatal: (error: unknown) => void;
};

/** SQL fragments that differ between engines. */
export type SqlDialect = {
  engine: 'sqlite' | 'postgres';
  /** `column in (values)` with one parameter for any number of values. */
  oneOf: (column: string, values: readonly (number | string)[]) => RawBuilder<boolean>;
  /** A table with one column, `value`: a JSON array for each row, all as one parameter. */
  eachOf: (rows: readonly (readonly unknown[])[]) => RawBuilder<unknown>;
  /**
   * After a table's name: use this index. SQLite then refuses any other plan. PostgreSQL ignores it and decides by
   * statistics.
   */
  indexedBy: (index: string) => RawBuilder<unknown>;
  /** Aggregates the values of all rows into one JSON text, an array for each row. */
  jsonRows: (values: RawBuilder<unknown>[], order: RawBuilder<unknown>) => RawBuilder<string>;
  /** Query for `state`: while its text is unchanged, nothing was committed. Values never repeat. */
  state: RawBuilder<{ state: string }>;
  /** Query for the version of the database and its size in bytes. */
  facts: RawBuilder<{ version: string; size: number | string }>;
  /** Returns whether the process named in a column (`processName`) still uses the store. */
  lives: (column: string) => RawBuilder<boolean>;
  /**
   * Locks rows against changes until the transaction ends. On PostgreSQL this is `for no key update`, so that rows that
   * refer to a locked row can be inserted without waiting.
   */
  forUpdate: RawBuilder<unknown>;
  /** Holds rows against `forExclusive` until the transaction ends, without waiting for `forUpdate`. */
  forHold: RawBuilder<unknown>;
  /** Like `forUpdate`, and waits for transactions with `forHold` as well. */
  forExclusive: RawBuilder<unknown>;
  skipLocked: RawBuilder<unknown>;
};

/** Runs a query synchronously, on the transaction's connection or, without one, on committed data. */
export type QuerySync = (
  text: string,
  parameters: readonly unknown[],
  connection: DatabaseConnection | undefined,
) => unknown[];

/** Connections to the server, and requests for one that wait. */
export type ConnectionCounts = { open: number; idle: number; waiting: number };

export type EngineParts = {
  db: Kysely<Schema>;
  /** Absent if the engine has no synchronous queries. */
  querySync?: QuerySync;
  /**
   * Returns a text that differs once a commit has written one of the tables; null in a transaction that may have
   * written one of them itself. Absent if only the server knows.
   */
  tableVersion?: (tables: readonly string[], isInside: boolean) => string | null;
  /** Returns the tables that a statement reads; null if they do not say all. Absent if only the server knows. */
  readTables?: (text: string) => readonly string[] | null;
  /** Called with the text of a query that will run repeatedly, so that it can be prepared. */
  prepare?: (text: string) => void;
  /** Lets a transaction resolve once it is committed, before it is on disk. */
  relax: (transaction: Transaction<Schema>) => Promise<void>;
  ddl: Ddl;
  dialect: SqlDialect;
  /** Notifies the other processes of the service of a topic once the transaction is committed. */
  notifyProcesses: (db: Kysely<Schema>, topic: string) => Promise<void>;
  /**
   * Subscribes to topics from other processes; null: notifications may have been missed. Returns a function that
   * unsubscribes.
   */
  listenToProcesses: (onTopic: (topic: string | null) => void) => Promise<() => Promise<void>>;
  /**
   * Runs work while no other process of the service runs any under the same name.
   * @param onWait called once if another process does
   */
  runExclusively: <T>(
    name: 'upgrade' | 'indexes' | 'dry_run',
    work: () => Promise<T>,
    onWait?: () => void,
  ) => Promise<T>;
  /**
   * Takes one of `count` places that the processes of the service have in common under a name. Returns a function that
   * gives it back, once; null: none is free. Always free on SQLite, whose one process counts itself.
   */
  takePlace: (name: string, count: number) => Promise<(() => void) | null>;
  /** Absent if the engine has no connections to share. */
  countConnections?: () => ConnectionCounts;
  close: () => Promise<void>;
};
