/** Milliseconds after the last question in which what was read is kept. */
const keptFor = 60_000;

type Bounds<T> = {
  /** Of all that is kept together; the last one is kept whatever it weighs. */
  most: number;
  weightOf: (one: T) => number;
};

/** What is read of bytes, by a name that tells which: once, however many ask at the same time, and kept for a while. */
export const remembering = <T>({
  most,
  weightOf,
}: Bounds<T>): ((name: string, read: () => Promise<T>) => Promise<T>) => {
  const kept = new Map<string, T>();
  const reading = new Map<string, Promise<T>>();
  let forgetting: NodeJS.Timeout | undefined;

  const forgetLater = (): void => {
    forgetting ??= setTimeout(() => {
      kept.clear();
      forgetting = undefined;
    }, keptFor).unref();
    forgetting.refresh();
  };
  const keep = (name: string, one: T): void => {
    forgetLater();
    kept.delete(name);
    kept.set(name, one);
    let weight = [...kept.values()].reduce((sum, each) => sum + weightOf(each), 0);
    for (const [oldest, each] of kept) {
      if (weight <= most || oldest === name) return;
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
    const one = kept.get(name) ?? (await readOnce(name, read));
    keep(name, one);
    return one;
  };
};
