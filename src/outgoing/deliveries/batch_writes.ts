/** Writes items of many callers together: a transaction costs more than what one of them writes. */
import { AsyncLocalStorage } from 'node:async_hooks';

type Waiting<I, R> = PromiseWithResolvers<R> & { item: I; inContext: (work: () => void) => void };

type Limits<I> = {
  /** Items of one batch; as many do not wait. */
  maxItems: number;
  /** Milliseconds that an item waits for others. */
  pause: number;
  /** Returns whether something waits for an item, which then ends the pause. */
  isUrgent: (item: I) => boolean;
};

/**
 * Returns a function that writes one item, with those that arrive during its pause or during the batch before. If a
 * batch fails, each of its items is written by itself.
 * @param write writes items in one transaction; returns a result for each
 */
export const makeBatchWriter = <I, R>(
  write: (items: I[]) => Promise<R[]>,
  { maxItems, pause, isUrgent }: Limits<I>,
): ((item: I) => Promise<R>) => {
  const waiting: Waiting<I, R>[] = [];
  let timer: NodeJS.Timeout | null = null;
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

  const run = async (): Promise<void> => {
    await settle(waiting.splice(0, maxItems));
    isRunning = false;
    schedule();
  };

  const start = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    isRunning = true;
    setImmediate(() => void run());
  };

  /** Runs a batch now or later, in the context of its first item: no item keeps that of earlier ones. */
  const schedule = (): void => {
    if (isRunning) return;
    const isFull = waiting.length >= maxItems || waiting.some(({ item }) => isUrgent(item));
    waiting[0]?.inContext(() => {
      if (isFull) start();
      else timer ??= setTimeout(start, pause);
    });
  };

  return async (item) => {
    const one = { ...Promise.withResolvers<R>(), item, inContext: AsyncLocalStorage.snapshot() };
    waiting.push(one);
    schedule();
    return await one.promise;
  };
};
