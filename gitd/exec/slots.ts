/** Limits the number of concurrent git processes. Further callers wait in a bounded queue, for a bounded time. */
import { availableParallelism } from 'node:os';
import { GitError } from '../git_error.ts';
import type { SlotCounts } from '../protocol.ts';

/** The largest part of all slots, and of the queue for them, that one holder may have: a user, an address or a kind. */
export type Share = { holder: string; part: number };

export type Slots = {
  /**
   * Waits for a slot and returns the function that releases it. The waiting holder with the fewest slots is next.
   * @param shares limits that this slot counts against; the first names the holder
   * @throws GitError `unavailable`
   */
  take: (signal?: AbortSignal, shares?: readonly Share[]) => Promise<() => void>;
  count: () => SlotCounts;
};

type Waiting = { shares: readonly Share[]; grant: () => void };

const usualLimits = { waiting: 500, ofOneHolder: 50, seconds: 30 };

/** Counts places in use, in total and by holder. */
const makeLedger = (places: number) => {
  let free = places;
  const held = new Map<string, number>();
  const countPlaces = (holder: string | undefined): number =>
    holder === undefined ? 0 : (held.get(holder) ?? 0);
  return {
    countUsed: () => places - free,
    countPlaces,
    isAllowed: (shares: readonly Share[]): boolean =>
      free > 0 &&
      shares.every(({ holder, part }) => countPlaces(holder) < Math.max(1, Math.floor(places * part))),
    change: (shares: readonly Share[], by: 1 | -1): void => {
      free -= by;
      for (const { holder } of shares) {
        const count = countPlaces(holder) + by;
        if (count === 0) held.delete(holder);
        else held.set(holder, count);
      }
    },
  };
};

const getHolder = ([first]: readonly Share[]): string | undefined => first?.holder;

/** Waits in the queue for a slot. @throws GitError `unavailable` after `seconds` */
const untilGranted = async (
  { queue, shares, seconds }: { queue: Set<Waiting>; shares: readonly Share[]; seconds: number },
  signal: AbortSignal | undefined,
): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const waiting: Waiting = { shares, grant: resolve };
  queue.add(waiting);
  const leave = (why: Error): void => {
    if (queue.delete(waiting)) reject(why);
  };
  const tooLong = (): void => leave(new GitError('unavailable', 'no place for a git process became free'));
  const timer = setTimeout(tooLong, seconds * 1000).unref();
  const onAbort = (): void => leave(signal?.reason as Error);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
};

export const makeSlots = (places: number, limits: Partial<typeof usualLimits> = {}): Slots => {
  const { waiting: mostWaiting, ofOneHolder, seconds } = { ...usualLimits, ...limits };
  const { countUsed, countPlaces: countOf, isAllowed, change } = makeLedger(places);
  const queue = new Set<Waiting>();
  const waiting = makeLedger(mostWaiting);

  /** Selects the next waiting caller: the oldest whose holder has the fewest slots. */
  const next = (): Waiting | undefined => {
    let best: Waiting | undefined;
    for (const caller of queue) {
      if (!isAllowed(caller.shares)) continue;
      if (best === undefined || countOf(getHolder(caller.shares)) < countOf(getHolder(best.shares)))
        best = caller;
    }
    return best;
  };

  const grantFree = (): void => {
    for (let caller = next(); caller !== undefined; caller = next()) {
      queue.delete(caller);
      change(caller.shares, 1);
      caller.grant();
    }
  };

  /** Returns a function that releases the slot; further calls do nothing. */
  const releaseOnce = (shares: readonly Share[]): (() => void) => {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      change(shares, -1);
      grantFree();
    };
  };

  const requireRoom = (shares: readonly Share[]): void => {
    if (!waiting.isAllowed(shares) || waiting.countPlaces(getHolder(shares)) >= ofOneHolder)
      throw new GitError('unavailable', 'too many git processes are requested');
  };

  return {
    take: async (signal, shares = []) => {
      signal?.throwIfAborted();
      if (isAllowed(shares)) {
        change(shares, 1);
        return releaseOnce(shares);
      }
      requireRoom(shares);
      waiting.change(shares, 1);
      try {
        await untilGranted({ queue, shares, seconds }, signal);
      } finally {
        waiting.change(shares, -1);
      }
      return releaseOnce(shares);
    },
    count: () => ({ total: places, used: countUsed(), waiting: queue.size }),
  };
};

export type SlotName = 'interactive' | 'transfer' | 'maintenance';

/**
 * Transfers mostly wait for a client: with few slots, slow clients would block all others. Four interactive slots are
 * the fewest of which each share is at least one (`interactive_shares.ts`).
 */
export const makeAllSlots = (cores: number = availableParallelism()): Record<SlotName, Slots> => ({
  interactive: makeSlots(Math.max(4, 2 * cores), { ofOneHolder: 100 }),
  transfer: makeSlots(Math.max(16, 4 * cores)),
  maintenance: makeSlots(1, { waiting: 1000, ofOneHolder: 1000, seconds: 3600 }),
});
