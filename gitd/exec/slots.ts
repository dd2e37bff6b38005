/** How many git processes work at once. Who finds no place waits, but neither for ever nor in any number. */
import { availableParallelism } from 'node:os';
import { GitError } from '../failure.ts';

export type Slots = {
  /** Answers what gives the place back. @throws GitError `unavailable` */
  take: (signal?: AbortSignal) => Promise<() => void>;
};

type Waiting = { grant: () => void };

export const makeSlots = (places: number, limits = { waiting: 500, seconds: 30 }): Slots => {
  let free = places;
  const queue = new Set<Waiting>();

  const giveBack = (): void => {
    const [next] = queue;
    if (next === undefined) free += 1;
    else next.grant();
  };

  /** Gives back once, however often it is called. */
  const once = (): (() => void) => {
    let given = false;
    return () => {
      if (!given) giveBack();
      given = true;
    };
  };

  const wait = async (signal: AbortSignal | undefined): Promise<void> => {
    if (queue.size >= limits.waiting) throw new GitError('unavailable', 'too many git processes are wanted');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = {
      grant: () => {
        queue.delete(waiting);
        resolve();
      },
    };
    queue.add(waiting);
    const leave = (why: Error): void => {
      if (queue.delete(waiting)) reject(why);
    };
    const tooLong = (): void => leave(new GitError('unavailable', 'no place for a git process came free'));
    const timer = setTimeout(tooLong, limits.seconds * 1000).unref();
    const onAbort = (): void => leave(signal?.reason as Error);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  };

  return {
    take: async (signal) => {
      signal?.throwIfAborted();
      if (free > 0) free -= 1;
      else await wait(signal);
      return once();
    },
  };
};

export type SlotName = 'interactive' | 'transfer' | 'maintenance';

/** Transfers spend most of their time waiting for a client: few places would let slow ones keep all others out. */
export const makeAllSlots = (cores: number = availableParallelism()): Record<SlotName, Slots> => ({
  interactive: makeSlots(Math.max(2, 2 * cores)),
  transfer: makeSlots(Math.max(16, 4 * cores)),
  maintenance: makeSlots(1, { waiting: 1000, seconds: 3600 }),
});
