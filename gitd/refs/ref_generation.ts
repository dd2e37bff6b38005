/** Counts ref changes per repository. Caches of ref data use the number as part of their key. */
export type Generations = {
  get: (dir: string) => number;
  raise: (dir: string) => void;
  /** Number of repositories with a separate counter. */
  size: () => number;
};

/**
 * Creates the counters.
 * @param maxEntries repositories with a separate counter; the others share one counter
 */
export const makeGenerations = (maxEntries: number): Generations => {
  const generations = new Map<string, number>();
  let last = 0;
  /** Never lower than a dropped number. */
  let shared = 0;
  /** Drops the repositories changed least recently; caches of their refs are read again. */
  const forgetHalf = (): void => {
    for (const dir of generations.keys()) {
      if (generations.size <= maxEntries / 2) break;
      generations.delete(dir);
    }
    shared = last;
  };
  return {
    get: (dir) => generations.get(dir) ?? shared,
    raise: (dir) => {
      last += 1;
      generations.delete(dir);
      generations.set(dir, last);
      if (generations.size > maxEntries) forgetHalf();
    },
    size: () => generations.size,
  };
};

const generations = makeGenerations(20_000);

export const getGeneration = (dir: string): number => generations.get(dir);

/** Invalidates caches of a repository's refs. Call it after each change, before it is reported. */
export const raiseGeneration = (dir: string): void => {
  generations.raise(dir);
  for (const watcher of watchers) watcher(dir);
};

const watchers = new Set<(dir: string) => void>();

/** Subscribes to ref changes. Returns a function that unsubscribes. */
export const watchRefs = (watcher: (dir: string) => void): (() => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};
