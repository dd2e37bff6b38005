/** `K`: text, number, or anything else that a `Map` compares. */
export type LruCache<V, K = string> = {
  get: (key: K) => V | undefined;
  set: (key: K, value: V) => void;
  delete: (key: K) => void;
};

/** The variable `BENCH_WITHOUT_CACHES` switches all caches off, to measure what they save (`docs/debugging.md`). */
const isCachingOff = process.env['BENCH_WITHOUT_CACHES'] === '1';

type Weigh<V, K> = (value: V, key: K) => number;

/**
 * Creates a map that evicts the least recently used entries, for what must be remembered rather than read again.
 * @param maxWeight largest sum of all weights; a heavier value is not kept
 */
export const makeLruMap = <V, K = string>(maxWeight: number, weigh: Weigh<V, K>): LruCache<V, K> => {
  const entries = new Map<K, { value: V; weight: number }>();
  let total = 0;
  const remove = (key: K): void => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  return {
    get: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set: (key, value) => {
      remove(key);
      const weight = weigh(value, key);
      if (weight > maxWeight) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= maxWeight) return;
        remove(oldest);
      }
    },
    delete: remove,
  };
};

const makeNoCache = <V, K>(): LruCache<V, K> => ({
  get: () => undefined,
  set: () => undefined,
  delete: () => undefined,
});

/**
 * Creates a cache that evicts the least recently used entries. It keeps nothing while caches are switched off, so
 * callers must not rely on a value that they have just set.
 * @param maxWeight largest sum of all weights; a heavier value is not kept
 */
export const makeLruCache = <V, K = string>(maxWeight: number, weigh: Weigh<V, K>): LruCache<V, K> =>
  isCachingOff ? makeNoCache() : makeLruMap(maxWeight, weigh);
