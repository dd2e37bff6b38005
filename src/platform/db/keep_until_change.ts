/**
 * Keeps what was read until a table that it was read from changes. Only on SQLite: there the one writer counts its
 * commits, while PostgreSQL would have to be asked, which costs as much as the read.
 */
import { type LruCache, makeLruCache } from '../lru_cache.ts';
import { getStoreKey, getTableVersion } from './compiled_query.ts';
import type { Reader } from './open.ts';

type Kept<V> = { version: string; value: V };

/**
 * Creates a read that keeps its values. Callers share them and must not modify them. A transaction uses them as long
 * as nothing has written what it reads since the last commit.
 * @param tables that the values are read from
 * @param max values of one store; the least recently used are evicted
 */
export const keepUntilChange = <V>(tables: readonly string[], max: number) => {
  const stores = new WeakMap<object, LruCache<Kept<V>>>();
  const getCache = (db: Reader): LruCache<Kept<V>> => {
    const key = getStoreKey(db);
    const cache = stores.get(key) ?? makeLruCache<Kept<V>>(max, () => 1);
    stores.set(key, cache);
    return cache;
  };
  return async (db: Reader, key: string, load: () => Promise<V>): Promise<V> => {
    // Read before the value, which is therefore never older than its version.
    const version = getTableVersion(db, tables);
    if (version === null) return await load();
    const cache = getCache(db);
    const kept = cache.get(key);
    if (kept?.version === version) return kept.value;
    const value = await load();
    // A transaction may have written meanwhile, and be undone.
    const isUnchanged = !db.isTransaction || getTableVersion(db, tables) === version;
    if (value !== undefined && isUnchanged) cache.set(key, { version, value });
    return value;
  };
};
