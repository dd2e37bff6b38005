/**
 * Runs `work` on all items, at most `concurrency` at a time. After a failure no other item begins; it is thrown once
 * the work in progress has ended.
 */
export const forEachConcurrently = async <T>(
  items: Iterable<T> | AsyncIterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const remaining = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    try {
      while (failures.length === 0) {
        const next = await remaining.next();
        if (next.done === true) return;
        await work(next.value);
      }
    } catch (error) {
      failures.push(error);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failures.length === 0) return;
  await remaining.return?.();
  throw failures[0];
};
