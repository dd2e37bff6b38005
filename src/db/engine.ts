import type { DatabaseConnection, Kysely, RawBuilder } from 'kysely';
import type { Ddl } from './ddl.ts';
import type { Schema } from './schema.ts';

export type OpenOptions = {
  /** SQLite: the database file. */
  file: string;
  /** PostgreSQL: `postgres://...`, the schema of its own, and how many connections at most. */
  url?: string;
  schema: string;
  connections: number;
  /** Nothing is changed by opening, closing or a statement: a transaction fails. */
  readOnly?: boolean;
  /** Told of an error after which nothing more may be acknowledged. */
  onFatal: (error: unknown) => void;
};

/** SQL that each engine says in its own words. */
export type Words = {
  engine: 'sqlite' | 'postgres';
  /** `column in (values)` as one parameter, however many the values. */
  oneOf: (column: string, values: readonly (number | string)[]) => RawBuilder<boolean>;
  /** A table of one column, `value`: a JSON array for each of these rows, all of them as one parameter. */
  eachOf: (rows: readonly (readonly unknown[])[]) => RawBuilder<unknown>;
  /**
   * After a table's name: read along this index. SQLite then refuses any other plan; PostgreSQL has statistics, and
   * chooses itself.
   */
  indexedBy: (index: string) => RawBuilder<unknown>;
  /** An aggregate: the values of each row as an array, and these in one, as JSON text. */
  jsonRows: (values: RawBuilder<unknown>[], order: RawBuilder<unknown>) => RawBuilder<string>;
  /** A query for `state`: as long as its text is the same, nothing at all was committed. It never comes again. */
  state: RawBuilder<{ state: string }>;
  /** Whether the process of this name (`processName`), which a column tells, still uses the store. */
  lives: (column: string) => RawBuilder<boolean>;
  /**
   * Locks rows against changes until the transaction ends. On PostgreSQL `for no key update`: a row that refers to a
   * locked one by a foreign key is inserted without waiting.
   */
  forUpdate: RawBuilder<unknown>;
  skipLocked: RawBuilder<unknown>;
};

/** Answers at once: of a transaction's connection what it sees, else what is committed. */
export type AskNow = (
  text: string,
  parameters: readonly unknown[],
  connection: DatabaseConnection | undefined,
) => unknown[];

export type EngineParts = {
  db: Kysely<Schema>;
  /** Where queries answer at once. */
  askNow?: AskNow;
  /** Told of the text of a query that will be run again and again: it may be planned once. */
  prepare?: (text: string) => void;
  ddl: Ddl;
  words: Words;
  /** Tells the other processes of the service of a topic, once the transaction is committed. */
  tellOthers: (db: Kysely<Schema>, topic: string) => Promise<void>;
  /** Calls back with each topic that another process told of; null: any may have been missed. Answers what ends that. */
  hearOthers: (onTopic: (topic: string | null) => void) => Promise<() => Promise<void>>;
  close: () => Promise<void>;
};
