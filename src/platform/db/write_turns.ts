/**
 * Queues transactions that wait for the same row, before they take a connection. When a lock is released, PostgreSQL
 * wakes all waiters, and a newcomer may get it first; each waiter holds a connection meanwhile. The queue serves them
 * in order. It only saves waiting: the row lock ensures correctness.
 */

/**
 * Milliseconds after which a transaction stops waiting for its turn, so that a hanging one does not block the others.
 */
const maxWaitMilliseconds = 5_000;

const waitFor = async (previous: Promise<void>): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, maxWaitMilliseconds);
  await Promise.race([previous, promise]);
  clearTimeout(timer);
};

export type WriteTurns = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Creates the queues of one store. Work of the same name runs one after another. */
export const makeWriteTurns = (): WriteTurns => {
  const last = new Map<string, Promise<void>>();
  return async (name, work) => {
    const previous = last.get(name);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    last.set(name, ended);
    if (previous !== undefined) await waitFor(previous);
    try {
      return await work();
    } finally {
      end();
      if (last.get(name) === ended) last.delete(name);
    }
  };
};
