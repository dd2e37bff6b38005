export type LruCache<V> = {
  get: (key: string) => V | undefined;
  set: (key: string, value: V) => void;
  delete: (key: string) => void;
};

/** Keeps nothing, so that `npm run bench` shows what caches are worth. */
const isOff = process.env['BENCH_WITHOUT_CACHES'] === '1';

/**
 * Creates a cache that evicts the least recently used entries.
 * @param maxWeight largest sum of all weights; a heavier value is not kept
 */
export const makeLruCache = <V>(maxWeight: number, weigh: (value: V, key: string) => number): LruCache<V> => {
  const entries = new Map<string, { value: V; weight: number }>();
  let total = 0;
  const remove = (key: string): void => {
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
      if (weight > maxWeight || isOff) return;
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
