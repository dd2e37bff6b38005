import { unavailable } from '../errors.ts';

/** Of one owner, and of all. */
const mostOfOne = 16;
const most = 256;

export type Turns<T> = {
  /** @throws Failure 503 where too many wait */
  add: (owner: string, one: T) => void;
  /** null: none waits. */
  next: () => T | null;
};

/** Queues, one of each owner, that are served in turn. */
export const makeTurns = <T>(): Turns<T> => {
  const queues = new Map<string, T[]>();
  let count = 0;
  return {
    add: (owner, one) => {
      const queue = queues.get(owner) ?? [];
      if (queue.length >= mostOfOne || count >= most) throw unavailable();
      count += 1;
      queues.set(owner, queue);
      queue.push(one);
    },
    next: () => {
      const [first] = queues;
      if (first === undefined) return null;
      const [owner, queue] = first;
      const one = queue.shift() ?? null;
      queues.delete(owner);
      // Whoever had his turn stands last.
      if (queue.length > 0) queues.set(owner, queue);
      count -= 1;
      return one;
    },
  };
};
