/**
 * Limits concurrent fetches of one user, deploy key or anonymous address in all services, so that nobody can occupy the
 * whole storage. Fetches past the limit wait for a bounded time, in a bounded queue.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Platform } from '../../core/platform.ts';
import { type GitUser, transferClient } from '../../code/repository/refs/transfer_access.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';

/** Milliseconds. */
const maxWaitMilliseconds = 30_000;
/** Maximum waiting fetches of one owner. */
const maxWaitingFetches = 10;

/** Message that git shows. */
const tooManyFetches = 'You have too many concurrent fetches. Wait until some of them have finished.';

export class TooManyFetches extends Error {
  constructor() {
    super(tooManyFetches);
  }
}

type Queue = { taken: number; waiting: Set<() => void> };

const getQueues = memoizePerStore((_platform: Platform) => new Map<string, Queue>());

const waitIn = async (queue: Queue): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  queue.waiting.add(resolve);
  const timer = setTimeout(() => {
    if (queue.waiting.delete(resolve)) reject(new TooManyFetches());
  }, maxWaitMilliseconds).unref();
  try {
    await promise;
  } finally {
    clearTimeout(timer);
  }
};

const leave = (queues: Map<string, Queue>, name: string, queue: Queue): void => {
  const [next] = queue.waiting;
  if (next === undefined) {
    queue.taken -= 1;
    if (queue.taken === 0) queues.delete(name);
    return;
  }
  queue.waiting.delete(next);
  next();
};

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
  const { fetch_limit } = platform.config;
  if (fetch_limit === 0) return () => undefined;
  const queues = getQueues(platform);
  const { name } = transferClient(user, ip);
  const queue = queues.get(name) ?? { taken: 0, waiting: new Set() };
  queues.set(name, queue);
  if (queue.taken < fetch_limit) queue.taken += 1;
  else if (queue.waiting.size >= fetch_limit * maxWaitingFetches) throw new TooManyFetches();
  else await waitIn(queue);
  try {
    const leavePlace = await takeSharedPlace(platform, name);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      leavePlace();
      leave(queues, name, queue);
    };
  } catch (error) {
    leave(queues, name, queue);
    throw error;
  }
};
