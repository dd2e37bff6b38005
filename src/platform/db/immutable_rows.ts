/** An LRU cache of rows that never change once stored. */
import { getStoreKey } from './compiled_query.ts';
import type { Reader } from './open.ts';

export type ImmutableRowCache<K, V> = {
  get: (db: Reader, key: K) => V | undefined;
  /** Do not cache rows that the current transaction may have written: it may be rolled back. */
  set: (db: Reader, key: K, value: V) => void;
  drop: (db: Reader, key: K) => void;
};

/**
 * Creates a cache.
 * @param maxRows maximum entries per store; the least recently used are evicted
 */
export const immutableRowCache = <K, V>(maxRows: number): ImmutableRowCache<K, V> => {
  const stores = new WeakMap<object, Map<K, V>>();
  return {
    get: (db, key) => {
      const kept = stores.get(getStoreKey(db));
      const value = kept?.get(key);
      if (kept === undefined || value === undefined) return undefined;
      kept.delete(key);
      kept.set(key, value);
      return value;
    },
    set: (db, key, value) => {
      const kept = stores.get(getStoreKey(db)) ?? new Map<K, V>();
      stores.set(getStoreKey(db), kept);
      kept.delete(key);
      kept.set(key, value);
      const [oldest] = kept.keys();
      if (kept.size > maxRows && oldest !== undefined) kept.delete(oldest);
    },
    drop: (db, key) => void stores.get(getStoreKey(db))?.delete(key),
  };
};
