/** One after another, of those who want the same. */
import type { Platform } from '../access/call.ts';

const queues = new WeakMap<Platform, Map<string, Promise<unknown>>>();

const queuesOf = (platform: Platform): Map<string, Promise<unknown>> => {
  const known = queues.get(platform);
  if (known !== undefined) return known;
  const fresh = new Map<string, Promise<unknown>>();
  queues.set(platform, fresh);
  return fresh;
};

/**
 * Runs the work when all that asked before for the same key has ended: within one process. It saves those who would
 * lose a race the work that they would have to do again; what must not be done at once is held apart by the store.
 */
export const inTurn = async <T>(platform: Platform, key: string, work: () => Promise<T>): Promise<T> => {
  const all = queuesOf(platform);
  const before = all.get(key) ?? Promise.resolve();
  const own = before.then(work, work);
  all.set(key, own);
  try {
    return await own;
  } finally {
    if (all.get(key) === own) all.delete(key);
  }
};
