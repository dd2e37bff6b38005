/**
 * Limits concurrent work, in total and of each owner, such as a user or an address. Callers past a limit wait, in a
 * bounded queue and for a bounded time. A free place goes to the waiting owner who has the fewest.
 */
export type SemaphoreLimits = {
  /** Places of all owners; default: no limit. */
  places?: number;
  placesOfOwner: number;
  /** Waiting callers of all owners; default: no limit. */
  waiting?: number;
  waitingOfOwner: number;
  /** Milliseconds that a caller waits at most. */
  maxWaitMilliseconds: number;
  /** Makes the error of a refused caller. */
  refuse: () => Error;
};

export type FairSemaphore = {
  /** Returns whether the owner would get a place without waiting. */
  hasPlace: (owner: string) => boolean;
  /**
   * Waits for a place. Returns a function that releases it; further calls do nothing.
   * @throws the error of `refuse`, when too many wait or the wait was too long
   */
  acquire: (owner: string) => Promise<() => void>;
};

type Waiting = { owner: string; grant: () => void };

/** Counts by owner, without entries for owners who have none. */
const makeCounts = () => {
  const counts = new Map<string, number>();
  let total = 0;
  const get = (owner: string): number => counts.get(owner) ?? 0;
  return {
    get,
    total: (): number => total,
    add: (owner: string, change: 1 | -1): void => {
      total += change;
      const count = get(owner) + change;
      if (count === 0) counts.delete(owner);
      else counts.set(owner, count);
    },
  };
};

/** Waiting callers in order of arrival, counted by owner. */
const makeQueue = () => {
  const callers = new Set<Waiting>();
  const counts = makeCounts();
  return {
    callers,
    counts,
    add: (caller: Waiting): void => {
      callers.add(caller);
      counts.add(caller.owner, 1);
    },
    /** Returns false if the caller has left the queue. */
    remove: (caller: Waiting): boolean => {
      if (!callers.delete(caller)) return false;
      counts.add(caller.owner, -1);
      return true;
    },
  };
};

export const makeFairSemaphore = ({
  places = Infinity,
  placesOfOwner,
  waiting = Infinity,
  waitingOfOwner,
  maxWaitMilliseconds,
  refuse,
}: SemaphoreLimits): FairSemaphore => {
  const held = makeCounts();
  const queue = makeQueue();

  const hasPlace = (owner: string): boolean => held.total() < places && held.get(owner) < placesOfOwner;

  /** Selects the next caller: of those who may have a place, the oldest whose owner has the fewest. */
  const next = (): Waiting | undefined => {
    let best: Waiting | undefined;
    for (const caller of queue.callers) {
      if (!hasPlace(caller.owner)) continue;
      if (best === undefined || held.get(caller.owner) < held.get(best.owner)) best = caller;
    }
    return best;
  };

  const take = (owner: string): (() => void) => {
    held.add(owner, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      held.add(owner, -1);
      next()?.grant();
    };
  };

  const wait = async (owner: string): Promise<() => void> => {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const grant = (): void => {
      queue.remove(caller);
      resolve(take(owner));
    };
    const caller: Waiting = { owner, grant };
    queue.add(caller);
    const giveUp = (): void => {
      if (queue.remove(caller)) reject(refuse());
    };
    const timer = setTimeout(giveUp, maxWaitMilliseconds).unref();
    return await promise.finally(() => clearTimeout(timer));
  };

  return {
    hasPlace,
    acquire: async (owner) => {
      if (hasPlace(owner)) return take(owner);
      const { counts } = queue;
      if (counts.total() >= waiting || counts.get(owner) >= waitingOfOwner) throw refuse();
      return await wait(owner);
    },
  };
};
