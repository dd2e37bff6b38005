/** An LRU cache of rows that never change once stored. */
import { getStoreKey } from './compiled_query.ts';
import { type LruCache, makeLruCache } from '../lru_cache.ts';
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
  const stores = new WeakMap<object, LruCache<V, K>>();
  const getCache = (db: Reader): LruCache<V, K> => {
    const key = getStoreKey(db);
    const cache = stores.get(key) ?? makeLruCache<V, K>(maxRows, () => 1);
    stores.set(key, cache);
    return cache;
  };
  return {
    get: (db, key) => getCache(db).get(key),
    set: (db, key, value) => getCache(db).set(key, value),
    drop: (db, key) => getCache(db).delete(key),
  };
};
