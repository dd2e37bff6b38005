/** The cache of a storage for long answers to clients: packs, and lists of very many refs. */
import { join } from 'node:path';
import { type PackCache, openPackCache } from './pack_cache.ts';
import { transportFolder } from './transport_folder.ts';

/** Maximum bytes of all answers. */
export const cacheBudget = 2 * 2 ** 30;
/** Milliseconds that an answer is reused. */
export const cacheAge = 5 * 60_000;
export const maxCachedAnswers = 256;

const caches = new Map<string, Promise<PackCache>>();

export const openCache = async (root: string): Promise<PackCache> => {
  const folder = join(transportFolder(root), 'packs');
  const cache =
    caches.get(root) ??
    openPackCache({ folder, budget: cacheBudget, maxFiles: maxCachedAnswers, age: cacheAge });
  caches.set(root, cache);
  return await cache;
};
