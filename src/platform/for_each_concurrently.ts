/** Runs `work` on all items, at most `concurrency` at a time. */
export const forEachConcurrently = async <T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const remaining = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = remaining.next(); next.done !== true; next = remaining.next()) {
      await work(next.value);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
};
