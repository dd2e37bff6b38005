const maxConcurrency = 8;

/** Runs `work` on all items, at most eight at a time. */
export const forEachConcurrently = async <T>(
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const remaining = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = remaining.next(); next.done !== true; next = remaining.next()) {
      await work(next.value);
    }
  };
  await Promise.all(Array.from({ length: maxConcurrency }, worker));
};
