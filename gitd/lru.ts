/** Keeps what was used last. */
export type Lru<V> = {
  get: (key: string) => V | undefined;
  set: (key: string, value: V) => void;
  delete: (key: string) => void;
};

/** @param most of the sum of all weights */
export const makeLru = <V>(most: number, weigh: (value: V) => number = () => 1): Lru<V> => {
  const kept = new Map<string, { value: V; weight: number }>();
  let total = 0;
  const drop = (key: string): void => {
    total -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  };
  return {
    delete: drop,
    get: (key) => {
      const found = kept.get(key);
      if (found === undefined) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found.value;
    },
    set: (key, value) => {
      drop(key);
      const weight = weigh(value);
      if (weight > most) return;
      kept.set(key, { value, weight });
      total += weight;
      for (const oldest of kept.keys()) {
        if (total <= most) return;
        drop(oldest);
      }
    },
  };
};
