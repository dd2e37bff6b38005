/** Runs work of several owners a few at a time, so that no owner keeps the others waiting. */
import { unavailable } from '../errors.ts';

/** Maximum waiting work of one owner, and of all. */
const maxWaitingOfOwner = 16;
const maxWaiting = 256;

type Waiting = { owner: string; start: () => void };

export type Turns = <T>(owner: string, work: () => Promise<T>) => Promise<T>;

/**
 * Makes turns. One place is always left for another owner, if there are several.
 * @param places how much work runs at once
 * @returns a function that runs work in its turn; it throws Failure 503 if too much waits
 */
export const makeTurns = (places: number): Turns => {
  const placesOfOwner = Math.max(1, places - 1);
  const running = new Map<string, number>();
  const waiting: Waiting[] = [];
  let free = places;

  const getRunning = (owner: string): number => running.get(owner) ?? 0;
  const isAllowed = (owner: string): boolean => free > 0 && getRunning(owner) < placesOfOwner;
  const begin = (owner: string): void => {
    free -= 1;
    running.set(owner, getRunning(owner) + 1);
  };
  const end = (owner: string): void => {
    free += 1;
    if (getRunning(owner) === 1) running.delete(owner);
    else running.set(owner, getRunning(owner) - 1);
    // The waiting owner with the least work in progress is next.
    const [next] = waiting
      .filter((one) => isAllowed(one.owner))
      .toSorted((one, other) => getRunning(one.owner) - getRunning(other.owner));
    if (next === undefined) return;
    waiting.splice(waiting.indexOf(next), 1);
    begin(next.owner);
    next.start();
  };
  const wait = async (owner: string): Promise<void> => {
    const ofOwner = waiting.filter((one) => one.owner === owner).length;
    if (waiting.length >= maxWaiting || ofOwner >= maxWaitingOfOwner) throw unavailable();
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ owner, start: resolve });
    await promise;
  };

  return async (owner, work) => {
    if (isAllowed(owner)) begin(owner);
    else await wait(owner);
    try {
      return await work();
    } finally {
      end(owner);
    }
  };
};
