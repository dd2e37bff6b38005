/**
 * Limits how many expensive requests and pages are answered concurrently for anonymous callers, so that crawlers cannot
 * slow members down. One address gets a part of the places and of the queue for them, so it cannot block the others.
 */
import { getOrigin } from '../../platform/addresses/client_origin.ts';
import { Failure } from '../../platform/errors.ts';
import { type FairSemaphore, makeFairSemaphore } from '../../platform/fair_semaphore.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import type { Platform } from '../platform.ts';
import type { Call } from './call.ts';

/** Places of all addresses and of one. */
const readLimits = { places: 3, placesOfOwner: 2 };
/**
 * Downloads have places of their own, because slow clients hold them for long. gitd has at least twelve for fetches and
 * archives, so the rest is left to others.
 */
const downloadLimits = { places: 6, placesOfOwner: 2 };
const queueLimits = { waiting: 40, waitingOfOwner: 20, maxWaitMilliseconds: 10_000 };
/** Seconds after which a refused visitor may try again. */
const retryAfter = '30';

type Caller = { call: Pick<Call, 'signedIn' | 'platform' | 'ip'> };

const tooMany = (): Failure =>
  new Failure(
    'too_many_requests',
    { message: '429 Too Many Requests - Too many visitors ask for such pages. Sign in, or try again later.' },
    { 'retry-after': retryAfter },
  );

const makeSlots = (limits: { places: number; placesOfOwner: number }): FairSemaphore =>
  makeFairSemaphore({ ...limits, ...queueLimits, refuse: tooMany });

const getSlots = memoizePerStore((_platform: Platform) => ({
  reads: makeSlots(readLimits),
  downloads: makeSlots(downloadLimits),
}));

/** Returns whether expensive work of a page could start immediately. Used for optional parts. */
export const hasAnonymousSlot = ({ call }: Caller): boolean =>
  call.signedIn || getSlots(call.platform).reads.hasPlace(getOrigin(call.ip));

/**
 * Takes a place for a download. Anonymous callers share few.
 * @returns releases the place; further calls do nothing
 * @throws Failure 429 when too many of them wait
 */
export const takeDownloadSlot = async ({ call }: Caller): Promise<() => void> =>
  call.signedIn ? () => undefined : await getSlots(call.platform).downloads.acquire(getOrigin(call.ip));

/** Runs expensive work in a place. @throws Failure 429 when too many anonymous visitors wait */
export const withAnonymousSlot = async <T>({ call }: Caller, work: () => Promise<T>): Promise<T> => {
  if (call.signedIn) return await work();
  const release = await getSlots(call.platform).reads.acquire(getOrigin(call.ip));
  try {
    return await work();
  } finally {
    release();
  }
};
