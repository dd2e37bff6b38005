/**
 * Limits how many expensive requests and pages are answered concurrently for anonymous callers, so that crawlers cannot
 * slow members down. Callers past the limit wait for a bounded time, in a bounded queue.
 */
import { Failure } from '../../platform/errors.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import type { Platform } from '../platform.ts';
import type { Call } from './call.ts';

const maxPlaces = 2;
const maxWaiting = 20;
const maxWaitMilliseconds = 10_000;
/** Seconds after which a refused visitor may try again. */
const retryAfter = '30';

type Caller = { call: Pick<Call, 'signedIn' | 'platform'> };

type Queue = { taken: number; waiting: Set<() => void> };

const getQueue = memoizePerStore((_platform: Platform): Queue => ({ taken: 0, waiting: new Set() }));

const tooMany = (): Failure =>
  new Failure(
    'too_many_requests',
    { message: '429 Too Many Requests - Too many visitors ask for such pages. Sign in, or try again later.' },
    { 'retry-after': retryAfter },
  );

/** @throws Failure 429 */
const enter = async (queue: Queue): Promise<void> => {
  if (queue.taken < maxPlaces) {
    queue.taken += 1;
    return;
  }
  if (queue.waiting.size >= maxWaiting) throw tooMany();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  queue.waiting.add(resolve);
  const timer = setTimeout(() => {
    if (queue.waiting.delete(resolve)) reject(tooMany());
  }, maxWaitMilliseconds).unref();
  await promise.finally(() => clearTimeout(timer));
};

/** Releases a slot, or passes it to the visitor who has waited longest. */
const leave = (queue: Queue): void => {
  const [next] = queue.waiting;
  if (next === undefined) queue.taken -= 1;
  else {
    queue.waiting.delete(next);
    next();
  }
};

/** Returns whether expensive work of a page could start immediately. Used for optional parts. */
export const hasAnonymousSlot = ({ call }: Caller): boolean =>
  call.signedIn || getQueue(call.platform).taken < maxPlaces;

/**
 * Takes a place for expensive work, such as a download. Anonymous callers share few.
 * @returns releases the place; further calls do nothing
 * @throws Failure 429 when too many of them wait
 */
export const takeAnonymousSlot = async ({ call }: Caller): Promise<() => void> => {
  if (call.signedIn) return () => undefined;
  const queue = getQueue(call.platform);
  await enter(queue);
  let isTaken = true;
  return () => {
    if (isTaken) leave(queue);
    isTaken = false;
  };
};

/** Runs expensive work in a place. @throws Failure 429 when too many anonymous visitors wait */
export const withAnonymousSlot = async <T>(caller: Caller, work: () => Promise<T>): Promise<T> => {
  const release = await takeAnonymousSlot(caller);
  try {
    return await work();
  } finally {
    release();
  }
};
