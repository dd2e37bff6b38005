/** A cache that evicts the least recently used entries. */
export type Lru<V> = {
  get: (key: string) => V | undefined;
  set: (key: string, value: V) => void;
  delete: (key: string) => void;
};

type Weigh<V> = (value: V, key: string) => number;

/** The variable switches all caches off, to measure what they save (`docs/debugging.md`). */
const isCachingOff = process.env['BENCH_WITHOUT_CACHES'] === '1';

/**
 * Makes a map that evicts the least recently used entries, for what must be remembered rather than read again.
 * @param maxWeight largest sum of all weights
 */
export const makeLruMap = <V>(maxWeight: number, weigh: Weigh<V> = () => 1): Lru<V> => {
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

const makeNoCache = <V>(): Lru<V> => ({
  get: () => undefined,
  set: () => undefined,
  delete: () => undefined,
});

/**
 * Makes a cache. It keeps nothing while caches are switched off, so callers must not rely on a value that they have
 * just set.
 * @param maxWeight largest sum of all weights
 */
export const makeLruCache = <V>(maxWeight: number, weigh?: Weigh<V>): Lru<V> =>
  isCachingOff ? makeNoCache() : makeLruMap(maxWeight, weigh);
