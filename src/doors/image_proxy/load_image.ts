/** Loads images of other sites with a cache, and with places for viewers and the instance. */
import type { Call } from '../../core/access/call.ts';
import type { Platform } from '../../core/platform.ts';
import { getOrigin } from '../../platform/addresses/client_origin.ts';
import { Failure } from '../../platform/errors.ts';
import { makeFairSemaphore } from '../../platform/fair_semaphore.ts';
import { makeLruCache } from '../../platform/lru_cache.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import { minuteMilliseconds } from '../../platform/time.ts';
import { type FetchedImage, fetchImage } from './fetch_image.ts';

/** Bytes of images in memory. */
const maxCachedBytes = 32 * 1024 * 1024;
/** Bytes of an entry without its image. */
const entryBytes = 500;
/** Milliseconds after which an image that was not found is tried again. */
const retryAfter = minuteMilliseconds;

/** A place may hold an image of five megabytes. */
const limits = {
  places: 10,
  placesOfOwner: 4,
  waiting: 600,
  // A README can have a hundred badges.
  waitingOfOwner: 150,
  maxWaitMilliseconds: 15_000,
};

const tooMany = (): Failure =>
  new Failure('too_many_requests', { message: '429 Too Many Requests' }, { 'retry-after': '30' });

type Entry = { image: FetchedImage | null; until: number };

const getState = memoizePerStore((_platform: Platform) => ({
  cache: makeLruCache<Entry>(
    maxCachedBytes,
    ({ image }, url) => entryBytes + url.length + (image?.content.length ?? 0),
  ),
  slots: makeFairSemaphore({ ...limits, refuse: tooMany }),
  /** Loads that have a place, by address. */
  running: new Map<string, Promise<FetchedImage | null>>(),
  /** Requests that wait for a place or a load, by viewer and address. */
  waiting: new Map<string, Promise<FetchedImage | null>>(),
}));

const fetchAndKeep = async (platform: Platform, url: string): Promise<FetchedImage | null> => {
  const { outbound_local_requests_whitelist: allowedHosts } = platform.settings.current;
  // Anyone who writes a text names the address, so the setting that opens all local hosts to webhooks does not count.
  const image = await fetchImage(url, { isLocalAllowed: false, allowedHosts });
  const until = platform.clock.now() + (image?.freshFor ?? retryAfter);
  getState(platform).cache.set(url, { image, until });
  return image;
};

/** Returns the image in memory or of a running load; undefined: it must be loaded. */
const findImage = (platform: Platform, url: string): Promise<FetchedImage | null> | undefined => {
  const { cache, running } = getState(platform);
  const kept = cache.get(url);
  return kept !== undefined && kept.until > platform.clock.now()
    ? Promise.resolve(kept.image)
    : running.get(url);
};

const loadInPlace = async (platform: Platform, origin: string, url: string): Promise<FetchedImage | null> => {
  const { running, slots } = getState(platform);
  const release = await slots.acquire(origin);
  try {
    const loadedMeanwhile = findImage(platform, url);
    if (loadedMeanwhile !== undefined) return await loadedMeanwhile;
    const work = fetchAndKeep(platform, url).finally(() => running.delete(url));
    running.set(url, work);
    return await work;
  } finally {
    release();
  }
};

/**
 * Loads an image, once for all who ask for it at the same time; null if there is none. Each viewer waits for a place of
 * their own, so that none is refused for the places of another.
 * @throws Failure 429 when too many wait
 */
export const loadImage = async ({ platform, ip }: Call, url: string): Promise<FetchedImage | null> => {
  const { waiting } = getState(platform);
  const origin = getOrigin(ip);
  const key = `${origin} ${url}`;
  const existing = findImage(platform, url) ?? waiting.get(key);
  if (existing !== undefined) return await existing;
  const work = loadInPlace(platform, origin, url).finally(() => waiting.delete(key));
  waiting.set(key, work);
  return await work;
};
