/** Caches the messages that have not ended in each process, until any process changes a message. */
import type { Call } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import { type BroadcastMessage, broadcastMessagesTopic, isActive, listUnended } from './queries.ts';

type Cache = { unended: Promise<BroadcastMessage[]> | null };

const getCache = memoizePerStore((platform: Platform): Cache => {
  const cache: Cache = { unended: null };
  platform.store.listen(broadcastMessagesTopic, () => void (cache.unended = null));
  return cache;
});

/** Returns the messages that are shown now, the oldest first. */
export const listActive = async ({ platform, now }: Pick<Call, 'platform' | 'now'>) => {
  const cache = getCache(platform);
  const unended = (cache.unended ??= listUnended(platform.store.db, now));
  try {
    return (await unended).filter((message) => isActive(message, now));
  } catch (error) {
    if (cache.unended === unended) cache.unended = null;
    throw error;
  }
};
