/** What never changes once it is stored, kept in memory: it is asked for once. */
import { storeOf } from './compiled.ts';
import type { Reader } from './open.ts';

export type Kept<K, V> = {
  get: (db: Reader, key: K) => V | undefined;
  /** Never of what the transaction that reads it may have written itself: that may yet come to nothing. */
  set: (db: Reader, key: K, value: V) => void;
  drop: (db: Reader, key: K) => void;
};

/** @param most how many are kept of each store: those that were used last */
export const keep = <K, V>(most: number): Kept<K, V> => {
  const stores = new WeakMap<object, Map<K, V>>();
  return {
    get: (db, key) => {
      const kept = stores.get(storeOf(db));
      const value = kept?.get(key);
      if (kept === undefined || value === undefined) return undefined;
      kept.delete(key);
      kept.set(key, value);
      return value;
    },
    set: (db, key, value) => {
      const kept = stores.get(storeOf(db)) ?? new Map<K, V>();
      stores.set(storeOf(db), kept);
      kept.delete(key);
      kept.set(key, value);
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    },
    drop: (db, key) => void stores.get(storeOf(db))?.delete(key),
  };
};
