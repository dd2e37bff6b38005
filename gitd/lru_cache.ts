/** A cache that evicts the least recently used entries. */
export type Lru<V> = {
  get: (key: string) => V | undefined;
  set: (key: string, value: V) => void;
  delete: (key: string) => void;
};

/**
 * Makes a cache.
 * @param maxWeight largest sum of all weights
 */
export const makeLruCache = <V>(
  maxWeight: number,
  weigh: (value: V, key: string) => number = () => 1,
): Lru<V> => {
  const entries = new Map<string, { value: V; weight: number }>();
  let total = 0;
  const drop = (key: string): void => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  return {
    delete: drop,
    get: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set: (key, value) => {
      drop(key);
      const weight = weigh(value, key);
      if (weight > maxWeight) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= maxWeight) return;
        drop(oldest);
      }
    },
  };
};
