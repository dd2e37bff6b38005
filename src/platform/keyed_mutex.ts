/** An in-process mutex for each owner and name. */
import { memoizePerStore } from './memoize_per_store.ts';

type Queue = { last: Promise<unknown>; length: number };

const getQueues = memoizePerStore((_owner) => new Map<string | number, Queue>());

type Limit = {
  /** Maximum callers that hold or wait for the mutex. */
  maxCallers: number;
  /** Returns the error to throw if the maximum is reached. */
  refuse: () => Error;
};

/**
 * Runs work under a mutex, in order of arrival, among callers with the same owner and name. It spares callers work
 * that they would lose in a race. Correctness must be ensured by the store, because other processes do not share the
 * mutex.
 */
export const withMutex = async <T>(
  owner: object,
  name: string | number,
  work: () => Promise<T>,
  limit?: Limit,
): Promise<T> => {
  const queues = getQueues(owner);
  const queue = queues.get(name) ?? { last: Promise.resolve(), length: 0 };
  if (limit !== undefined && queue.length >= limit.maxCallers) throw limit.refuse();
  queues.set(name, queue);
  queue.length += 1;
  const mine = queue.last.then(work, work);
  queue.last = mine;
  try {
    return await mine;
  } finally {
    queue.length -= 1;
    if (queue.length === 0) queues.delete(name);
  }
};
