/** Writes items of many callers together: a transaction costs more than what one of them writes. */
import { AsyncLocalStorage } from 'node:async_hooks';

type Waiting<I, R> = PromiseWithResolvers<R> & { item: I; inContext: (work: () => void) => void };

/**
 * Returns a function that writes one item. Items of one turn of the event loop share a batch, and so do those that
 * arrive during the batch before. If a batch fails, each of its items is written by itself.
 * @param write writes items in one transaction; returns a result for each
 */
export const makeBatchWriter = <I, R>(
  write: (items: I[]) => Promise<R[]>,
  maxItems: number,
): ((item: I) => Promise<R>) => {
  const waiting: Waiting<I, R>[] = [];
  let isRunning = false;

  const settle = async (batch: readonly Waiting<I, R>[]): Promise<void> => {
    try {
      const results = await write(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, at) => resolve(results[at] as R));
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const one of batch) await settle([one]);
    }
  };

  /** Runs in the context of the first item, so that no item keeps that of earlier ones. */
  const runNext = (): void =>
    waiting[0]?.inContext(() => {
      isRunning = true;
      setImmediate(() => {
        void settle(waiting.splice(0, maxItems)).then(() => {
          isRunning = false;
          runNext();
        });
      });
    });

  return async (item) => {
    const one = { ...Promise.withResolvers<R>(), item, inContext: AsyncLocalStorage.snapshot() };
    waiting.push(one);
    if (!isRunning) runNext();
    return await one.promise;
  };
};
