/**
 * Queues transactions that wait for the same row, before they take a connection. When a lock is released, PostgreSQL
 * wakes all waiters, and a newcomer may get it first; each waiter holds a connection meanwhile. The queue serves them
 * in order. It only saves waiting: the row lock ensures correctness.
 */

/**
 * Milliseconds that a transaction may run before the next one stops waiting for it, so that a hanging one does not
 * block the others. The time that it waited itself does not count: in a long queue, those that gave up would wait for
 * the row with a connection each.
 */
const maxRunMilliseconds = 5_000;

type Turn = { begun: Promise<void>; ended: Promise<void> };

const waitFor = async ({ begun, ended }: Turn): Promise<void> => {
  await begun;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, maxRunMilliseconds);
  await Promise.race([ended, promise]);
  clearTimeout(timer);
};

export type WriteTurns = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** Creates the queues of one store. Work of the same name runs one after another. */
export const makeWriteTurns = (): WriteTurns => {
  const last = new Map<string, Turn>();
  return async (name, work) => {
    const previous = last.get(name);
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const turn = { begun, ended };
    last.set(name, turn);
    if (previous !== undefined) await waitFor(previous);
    begin();
    try {
      return await work();
    } finally {
      end();
      if (last.get(name) === turn) last.delete(name);
    }
  };
};
