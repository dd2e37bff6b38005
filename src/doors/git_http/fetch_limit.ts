/**
 * Limits concurrent fetches of one user, deploy key or anonymous address in all services, so that nobody can occupy the
 * whole storage. Fetches past the limit wait for a bounded time, in a bounded queue.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Platform } from '../../core/platform.ts';
import { type GitUser, transferClient } from '../../code/repository/refs/transfer_access.ts';
import { makeFairSemaphore } from '../../platform/fair_semaphore.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';

const maxWaitMilliseconds = 30_000;
/** Maximum waiting fetches of one owner, for each that may run. */
const maxWaitingFetches = 10;

/** Message that git shows. */
const tooManyFetches = 'You have too many concurrent fetches. Wait until some of them have finished.';

export class TooManyFetches extends Error {
  constructor() {
    super(tooManyFetches);
  }
}

const getSemaphore = memoizePerStore(({ config: { fetch_limit } }: Platform) =>
  makeFairSemaphore({
    placesOfOwner: fetch_limit,
    waitingOfOwner: fetch_limit * maxWaitingFetches,
    maxWaitMilliseconds,
    refuse: () => new TooManyFetches(),
  }),
);

/** Milliseconds between two looks for a place that another service may have given back. */
const pollMilliseconds = 250;

/** Waits for one of the places that all services have in common. */
const takeSharedPlace = async ({ store, config }: Platform, name: string): Promise<() => void> => {
  for (let waited = 0; waited <= maxWaitMilliseconds; waited += pollMilliseconds) {
    const leavePlace = await store.takePlace(`fetch ${name}`, config.fetch_limit);
    if (leavePlace !== null) return leavePlace;
    await wait(pollMilliseconds);
  }
  throw new TooManyFetches();
};

/**
 * Acquires a slot. Returns an idempotent function that releases it.
 * @throws TooManyFetches
 */
export const takeFetchSlot = async (platform: Platform, user: GitUser, ip: string): Promise<() => void> => {
  if (platform.config.fetch_limit === 0) return () => undefined;
  const { name } = transferClient(user, ip);
  const release = await getSemaphore(platform).acquire(name);
  try {
    const leavePlace = await takeSharedPlace(platform, name);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      leavePlace();
      release();
    };
  } catch (error) {
    release();
    throw error;
  }
};
