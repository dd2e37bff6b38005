/**
 * How many fetches one user, one deploy key, or one address that names nobody has at once: few of one must not keep
 * all others out of the storage. Who finds no place waits, but neither for long nor in any number.
 */
import type { Platform } from '../access/call.ts';
import { type GitUser, transferClient } from '../repository/transfer.ts';
import { oncePer } from '../once_per.ts';

/** Milliseconds. */
const longestWait = 30_000;
/** Waiting ones, for each that may fetch. */
const mostWaiting = 10;

/** The text that git shows. */
const tooManyFetches = 'You have too many fetches at once. Wait until some of them have ended.';

export class TooManyFetches extends Error {
  constructor() {
    super(tooManyFetches);
  }
}

type Queue = { taken: number; waiting: Set<() => void> };

const queuesOf = oncePer((_platform: Platform) => new Map<string, Queue>());

const waitIn = async (queue: Queue): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  queue.waiting.add(resolve);
  const timer = setTimeout(() => {
    if (queue.waiting.delete(resolve)) reject(new TooManyFetches());
  }, longestWait).unref();
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

/**
 * Takes a place; answers what gives it back, once however often it is called.
 * @throws TooManyFetches
 */
export const takeFetchPlace = async (platform: Platform, user: GitUser, ip: string): Promise<() => void> => {
  const { fetch_limit } = platform.config;
  if (fetch_limit === 0) return () => undefined;
  const queues = queuesOf(platform);
  const { name } = transferClient(user, ip);
  const queue = queues.get(name) ?? { taken: 0, waiting: new Set() };
  queues.set(name, queue);
  if (queue.taken < fetch_limit) queue.taken += 1;
  else if (queue.waiting.size >= fetch_limit * mostWaiting) throw new TooManyFetches();
  else await waitIn(queue);
  let isLeft = false;
  return () => {
    if (!isLeft) leave(queues, name, queue);
    isLeft = true;
  };
};
