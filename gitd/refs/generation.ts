/** A number for each repository that rises with every change of its refs: what was read of them is kept by it. */
const generations = new Map<string, number>();
let last = 0;

export const generationOf = (dir: string): number => generations.get(dir) ?? 0;

/** To be called after each change of a ref, before anybody is told of it. */
export const refsChanged = (dir: string): void => {
  last += 1;
  generations.set(dir, last);
  for (const watcher of watchers) watcher(dir);
};

const watchers = new Set<(dir: string) => void>();

/** Told of each change from now on. Answers what ends it. */
export const watchRefs = (watcher: (dir: string) => void): (() => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};
