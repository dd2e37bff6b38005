/** Queries whose SQL is made once: what every request asks must not be built and compiled with every request. */
import type { CompiledQuery, DatabaseConnection, Kysely, Transaction } from 'kysely';
import type { EngineParts, Words } from './engine.ts';
import type { Schema } from './schema.ts';

type Db = Kysely<Schema>;

/** Stands in a compiled query for a value that each run brings. */
class Placeholder {
  readonly name: string;
  readonly valueOf: (given: unknown) => unknown;

  constructor(name: string, valueOf: (given: unknown) => unknown) {
    this.name = name;
    this.valueOf = valueOf;
  }
}

/** Changes a value now; one that a run will bring, with each run. */
export const changed = <T, U>(value: T, change: (value: T) => U): U => {
  if (!(value instanceof Placeholder)) return change(value);
  const later = new Placeholder(value.name, (given) => change(value.valueOf(given) as T));
  return later as U;
};

const placeholders = new Proxy(
  {},
  { get: (_target, name) => new Placeholder(String(name), (given) => given) },
);

type Spoken = { words: Words } & Pick<EngineParts, 'askNow' | 'prepare'>;

const stores = new WeakMap<object, Spoken>();

/** One object a store, which its transactions share. */
export const storeOf = (db: Db): object => db.getExecutor().adapter;

/** Tells in which words the queries of a store are said, and what its engine does with those that are kept. */
export const setWords = (db: Db, spoken: Spoken): void => void stores.set(storeOf(db), spoken);

const spokenBy = (db: Db): Spoken => {
  const known = stores.get(storeOf(db));
  if (known === undefined) throw new Error('a store that was not opened by openStore');
  return known;
};

/** Of a transaction, while it goes on. */
const connections = new WeakMap<Db, DatabaseConnection>();

/**
 * Lets the compiled queries of a transaction go to its connection without the layers of the query builder, until
 * `stopStraight`: an entry that stays would keep all that the connection knows until the next whole collection.
 */
export const goStraight = async (db: Transaction<Schema>): Promise<void> =>
  await db.getExecutor().provideConnection(async (connection) => void connections.set(db, connection));

export const stopStraight = (db: Transaction<Schema>): void => void connections.delete(db);

export const wordsOf = (db: Db): Words => spokenBy(db).words;

let isMaking = false;

/** Whether a value is the same in each run of the query that is being made: it may be part of its text. */
export const isConstant = (value: unknown): value is string | number =>
  isMaking && (typeof value === 'string' || typeof value === 'number');

type Build<G, R> = (db: Db, given: G, spoken: Words) => CompiledQuery<R>;

/**
 * A query that is built and compiled at its first run. `build` must not look at the values that it is given, only
 * put them where parameters may stand; of a list, by `words.oneOf`.
 */
export const compiled = <G extends object, R>(build: Build<G, R>): ((db: Db, given: G) => Promise<R[]>) => {
  const made = new WeakMap<object, CompiledQuery<R>>();
  const make = (db: Db): CompiledQuery<R> => {
    isMaking = true;
    try {
      const query = build(db, placeholders as G, wordsOf(db));
      made.set(storeOf(db), query);
      spokenBy(db).prepare?.(query.sql);
      return query;
    } finally {
      isMaking = false;
    }
  };
  return async (db, given) => {
    const query = made.get(storeOf(db)) ?? make(db);
    const parameters = query.parameters.map((one) =>
      one instanceof Placeholder ? one.valueOf(given[one.name as keyof G]) : one,
    );
    // Past the layers of the query builder, which take as long as a look at a row.
    const connection = connections.get(db);
    const { askNow } = spokenBy(db);
    if (askNow !== undefined && (connection !== undefined || !db.isTransaction))
      return askNow(query.sql, parameters, connection) as R[];
    const { rows } = await (connection ?? db).executeQuery<R>({ ...query, parameters });
    return rows;
  };
};
