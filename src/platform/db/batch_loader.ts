/** Batches lookups made in the same tick into one query. */
import { getStoreKey } from './compiled_query.ts';
import type { Reader } from './open.ts';

type Lookup<R> = PromiseWithResolvers<R | undefined>;

/**
 * Creates a lookup that batches keys. Resolves with the row of a key; undefined if there is none. Callers share rows
 * and must not modify them. Lookups in a transaction are not batched, because other callers are outside of it.
 * @param loadRows loads the rows of some keys; at most one per key
 */
export const makeBatchLoader = <K extends string | number, R>(
  loadRows: (db: Reader, keys: K[]) => Promise<R[]>,
  keyOf: (row: R) => K,
): ((db: Reader, key: K) => Promise<R | undefined>) => {
  const stores = new WeakMap<object, Map<K, Lookup<R>>>();

  const loadAll = async (db: Reader, lookups: ReadonlyMap<K, Lookup<R>>): Promise<void> => {
    try {
      const rows = new Map((await loadRows(db, [...lookups.keys()])).map((row) => [keyOf(row), row]));
      for (const [key, { resolve }] of lookups) resolve(rows.get(key));
    } catch (error) {
      for (const { reject } of lookups.values()) reject(error);
    }
  };

  return async (db, key) => {
    if (db.isTransaction) return (await loadRows(db, [key]))[0];
    const store = getStoreKey(db);
    const waiting = stores.get(store) ?? new Map<K, Lookup<R>>();
    const lookup = waiting.get(key) ?? Promise.withResolvers<R | undefined>();
    if (waiting.size === 0) {
      stores.set(store, waiting);
      setImmediate(() => {
        stores.delete(store);
        void loadAll(db, waiting);
      });
    }
    waiting.set(key, lookup);
    return await lookup.promise;
  };
};
