/** Milliseconds that a value stays cached after its last use. */
const lifetime = 60_000;

type Bounds<T> = {
  /** Largest weight of all cached values together. The newest one stays, whatever it weighs. */
  maxWeight: number;
  weightOf: (one: T) => number;
};

/** Returns a cached loader: concurrent calls with one key share one load, and its value stays cached for a while. */
export const cacheBriefly = <T>({
  maxWeight,
  weightOf,
}: Bounds<T>): ((name: string, read: () => Promise<T>) => Promise<T>) => {
  const kept = new Map<string, T>();
  const reading = new Map<string, Promise<T>>();
  let evictionTimer: NodeJS.Timeout | undefined;

  const scheduleEviction = (): void => {
    evictionTimer ??= setTimeout(() => {
      kept.clear();
      evictionTimer = undefined;
    }, lifetime).unref();
    evictionTimer.refresh();
  };
  const keep = (name: string, one: T): void => {
    scheduleEviction();
    kept.delete(name);
    kept.set(name, one);
    let weight = [...kept.values()].reduce((sum, each) => sum + weightOf(each), 0);
    for (const [oldest, each] of kept) {
      if (weight <= maxWeight || oldest === name) return;
      kept.delete(oldest);
      weight -= weightOf(each);
    }
  };
  const readOnce = async (name: string, read: () => Promise<T>): Promise<T> => {
    const begun = reading.get(name) ?? read().finally(() => reading.delete(name));
    reading.set(name, begun);
    return await begun;
  };
  return async (name, read) => {
    const value = kept.get(name) ?? (await readOnce(name, read));
    keep(name, value);
    return value;
  };
};
