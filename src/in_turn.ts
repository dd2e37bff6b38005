/** One after another, of those in this process who want the same. */
import { oncePer } from './once_per.ts';

type Queue = { last: Promise<unknown>; length: number };

const queuesOf = oncePer((_owner) => new Map<string | number, Queue>());

type Limit = {
  /** How many may be at work and wait. */
  most: number;
  /** What is thrown where there are as many. */
  refuse: () => Error;
};

/**
 * Runs the work when all that asked before for the same name, of the same owner, has ended. It saves those who would
 * lose a race the work that they would have to do again; what must not be done at once is held apart by the store.
 */
export const inTurn = async <T>(
  owner: object,
  name: string | number,
  work: () => Promise<T>,
  limit?: Limit,
): Promise<T> => {
  const queues = queuesOf(owner);
  const queue = queues.get(name) ?? { last: Promise.resolve(), length: 0 };
  if (limit !== undefined && queue.length >= limit.most) throw limit.refuse();
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
