/** Queries whose SQL is built and compiled once, not with every request. */
import { CompiledQuery, type DatabaseConnection, type Kysely, type Transaction } from 'kysely';
import type { EngineParts, SqlDialect } from './engine.ts';
import { noteReadTables } from './read_tables.ts';
import type { Schema } from './schema/database.ts';

type Db = Kysely<Schema>;

/** Placeholder for a value that each run provides. */
class Placeholder {
  readonly name: string;
  readonly valueOf: (input: unknown) => unknown;

  constructor(name: string, valueOf: (input: unknown) => unknown) {
    this.name = name;
    this.valueOf = valueOf;
  }
}

/** Applies a change to a value now, or to a placeholder's value at each run. */
export const mapValue = <T, U>(value: T, change: (value: T) => U): U => {
  if (!(value instanceof Placeholder)) return change(value);
  const later = new Placeholder(value.name, (input) => change(value.valueOf(input) as T));
  return later as U;
};

const placeholders = new Proxy(
  {},
  {
    get: (_target, name) => new Placeholder(String(name), (input) => input),
    ownKeys: () => {
      throw new Error('a compiled query names each of its parameters: it cannot spread them');
    },
  },
);

type StoreParts = { dialect: SqlDialect } & Pick<
  EngineParts,
  'querySync' | 'prepare' | 'readTables' | 'tableVersion'
>;

const stores = new WeakMap<object, StoreParts>();

/** Returns an object that identifies a store and is shared by its transactions. */
export const getStoreKey = (db: Db): object => db.getExecutor().adapter;

/** Registers the SQL dialect of a store, and how its engine runs compiled queries. */
export const setStoreParts = (db: Db, parts: StoreParts): void => void stores.set(getStoreKey(db), parts);

const getStoreParts = (db: Db): StoreParts => {
  const registered = stores.get(getStoreKey(db));
  if (registered === undefined) throw new Error('the store was not opened by openStore');
  return registered;
};

/** Connection of each open transaction. */
const connections = new WeakMap<Db, DatabaseConnection>();

/**
 * Sends the compiled queries of a transaction directly to its connection, past the layers of the query builder, until
 * `unbindConnection`. A stale entry would keep the connection's memory until the next full garbage collection.
 */
export const bindConnection = async (db: Transaction<Schema>): Promise<void> =>
  await db.getExecutor().provideConnection(async (connection) => void connections.set(db, connection));

export const unbindConnection = (db: Transaction<Schema>): void => void connections.delete(db);

/**
 * Returns a text that differs once a commit has written one of the tables; null if the engine does not count them, or
 * the transaction may have written one of them.
 */
export const getTableVersion = (db: Db, tables: readonly string[]): string | null =>
  getStoreParts(db).tableVersion?.(tables, db.isTransaction) ?? null;

/** Notes the tables of a statement that runs outside of this thread (`read_tables.ts`). */
export const noteTablesOf = (db: Db, text: string): void =>
  noteReadTables(getStoreParts(db).readTables?.(text) ?? null);

export const getDialect = (db: Db): SqlDialect => getStoreParts(db).dialect;

/**
 * Runs a statement past the layers of the query builder, which take as long as reading a row.
 * @param text with the engine's own placeholders
 */
export const runText = async <R>(db: Db, text: string, parameters: readonly unknown[]): Promise<R[]> => {
  const connection = connections.get(db);
  const { querySync } = getStoreParts(db);
  if (querySync !== undefined && (connection !== undefined || !db.isTransaction))
    return querySync(text, parameters, connection) as R[];
  const { rows } = await (connection ?? db).executeQuery<R>(CompiledQuery.raw(text, [...parameters]));
  return rows;
};

let isMaking = false;

/** Returns whether a value is the same in each run of the query being built, so that it may be part of its text. */
export const isConstant = (value: unknown): value is string | number =>
  isMaking && (typeof value === 'string' || typeof value === 'number');

type Build<G, R> = (db: Db, params: G, dialect: SqlDialect) => CompiledQuery<R>;

type Compiled<G, R> = (db: Db, params: G) => Promise<R[]>;

/** Returns a query that `make` compiles at its first run. */
const runCompiled = <G extends object, R>(make: (db: Db) => CompiledQuery<R>): Compiled<G, R> => {
  const made = new WeakMap<object, CompiledQuery<R>>();
  const makeFirst = (db: Db): CompiledQuery<R> => {
    const query = make(db);
    made.set(getStoreKey(db), query);
    return query;
  };
  return async (db, params) => {
    const query = made.get(getStoreKey(db)) ?? makeFirst(db);
    const parameters = query.parameters.map((one) =>
      one instanceof Placeholder ? one.valueOf(params[one.name as keyof G]) : one,
    );
    return await runText<R>(db, query.sql, parameters);
  };
};

/**
 * Returns a query that is built and compiled at its first run. `build` must not inspect the values; it may only place
 * them where SQL allows parameters, and lists by `dialect.oneOf`.
 */
export const compiled = <G extends object, R>(build: Build<G, R>): Compiled<G, R> =>
  runCompiled((db) => {
    isMaking = true;
    try {
      const query = build(db, placeholders as G, getDialect(db));
      getStoreParts(db).prepare?.(query.sql);
      return query;
    } finally {
      isMaking = false;
    }
  });

/**
 * Like `compiled`, for a query that also holds values, such as the ids of the projects of one user. They are bound, so
 * that the queries of many users have one text. The caller keeps the query as long as the values are valid.
 */
export const compiledWithValues = <G extends object, R>(build: Build<G, R>): Compiled<G, R> =>
  runCompiled((db) => build(db, placeholders as G, getDialect(db)));
