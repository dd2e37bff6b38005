/** Caches what a user sees until anything at all is committed, such as the counters of every page. */
import { hash } from 'node:crypto';
import { compiled } from '../../platform/db/compiled_query.ts';
import { type LruCache, makeLruCache } from '../../platform/lru_cache.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import type { Platform } from '../platform.ts';
import { type Call, requireUser } from './call.ts';
import { type Viewer, today } from './viewer.ts';

const selectState = compiled((db, _none: object, dialect) => dialect.state.compile(db));

/** The viewer was loaded before the state is read: a value made with roles that ended since must not be kept for it. */
export const listRoles = ({ admin, external, projectLevels, namespaceLevels }: Viewer) => [
  admin,
  external,
  [...projectLevels],
  [...namespaceLevels],
];

const digests = new WeakMap<Viewer, string>();

/** Returns a digest of the roles of a viewer. It stays the same if the viewer is loaded again without a change. */
export const hashRoles = (viewer: Viewer): string => {
  const cached = digests.get(viewer);
  if (cached !== undefined) return cached;
  const digest = hash('sha1', JSON.stringify(listRoles(viewer)), 'base64url');
  digests.set(viewer, digest);
  return digest;
};

/**
 * Makes a cache with one value for each user. Memberships end by the day, and links depend on the address of the
 * service: both are part of what a value is kept for, as are the roles of the user.
 * @param maxUsers values of more users are evicted, the least recently used first
 * @param isComplete returns whether a value may be kept
 */
export const keepUntilCommit = <V extends object>(
  maxUsers: number,
  isComplete: (value: V) => boolean = () => true,
) => {
  const getCache = memoizePerStore((_platform: Platform): LruCache<{ stamp: string; value: V }> =>
    makeLruCache<{ stamp: string; value: V }>(maxUsers, () => 1),
  );
  return async (call: Call, load: () => Promise<V>): Promise<V> => {
    const cache = getCache(call.platform);
    const key = String(requireUser(call).id);
    // Read before the value, which is therefore never older than its stamp.
    const [row] = await selectState(call.db, {});
    const stamp = JSON.stringify([row?.state, today(call.now), call.baseUrl, hashRoles(call.viewer)]);
    const cached = cache.get(key);
    if (cached?.stamp === stamp) return cached.value;
    const value = await load();
    if (isComplete(value)) cache.set(key, { stamp, value });
    return value;
  };
};
