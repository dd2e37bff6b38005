import { unavailable } from '../errors.ts';

/** Maximum waiting items of one owner, and of all. */
const maxItemsOfOwner = 16;
const maxItems = 256;

export type FairQueue<T> = {
  /**
   * Adds an item.
   * @throws Failure 503 if too many wait
   */
  add: (owner: string, one: T) => void;
  /** Takes the next item; null if none waits. */
  next: () => T | null;
};

/** Creates a queue per owner, served round-robin. */
export const makeFairQueue = <T>(): FairQueue<T> => {
  const queues = new Map<string, T[]>();
  let count = 0;
  return {
    add: (owner, one) => {
      const queue = queues.get(owner) ?? [];
      if (queue.length >= maxItemsOfOwner || count >= maxItems) throw unavailable();
      count += 1;
      queues.set(owner, queue);
      queue.push(one);
    },
    next: () => {
      const [first] = queues;
      if (first === undefined) return null;
      const [owner, queue] = first;
      const item = queue.shift() ?? null;
      queues.delete(owner);
      // Move the served owner to the end.
      if (queue.length > 0) queues.set(owner, queue);
      count -= 1;
      return item;
    },
  };
};
