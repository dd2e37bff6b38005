/**
 * Resolves names of hosts, and remembers the addresses for a few seconds, so that many requests to one host need one
 * lookup. A caller checks the addresses each time, and connects to those that it checked.
 */
import { makeLruCache } from '../lru_cache.ts';

export type Address = { address: string; family: number };

export type Lookup = (host: string) => Promise<Address[]>;

/** Milliseconds: short, since a host may move. */
export const maxLookupAge = 5_000;

const maxHosts = 1_000;

/** @param getNow returns milliseconds of a clock that never goes back */
export const makeCachedLookup = (lookUp: Lookup, getNow = (): number => performance.now()): Lookup => {
  const cache = makeLruCache<{ until: number; addresses: Promise<Address[]> }>(maxHosts, () => 1);
  return async (host) => {
    const cached = cache.get(host);
    if (cached !== undefined && getNow() < cached.until) return await cached.addresses;
    const addresses = lookUp(host);
    cache.set(host, { until: getNow() + maxLookupAge, addresses });
    try {
      return await addresses;
    } catch (error) {
      cache.delete(host);
      throw error;
    }
  };
};
