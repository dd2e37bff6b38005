/** Keeps the merge statuses that were found current, until a branch, a project or a merge request changes. */
import type { Platform } from '../../../core/platform.ts';
import { getTableVersion } from '../../../platform/db/compiled_query.ts';
import { handMadeChangeAge, refTables } from '../../../platform/db/keep_until_change.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import type { MergeRequestRow } from '../rows.ts';

type Status = MergeRequestRow['merge_status'];
type Kept = { version: string; status: Status; until: number };

const tables = [...refTables, 'merge_requests'];

const maxStatuses = 10_000;

const getCache = memoizePerStore((_platform: Platform) => makeLruCache<Kept>(maxStatuses, () => 1));

/** Returns the state of what a status depends on; null if the engine does not count changes. */
export const getStatusVersion = ({ store }: Platform): string | null => getTableVersion(store.db, tables);

/** @param version as `getStatusVersion` returns it now */
export const findKeptStatus = (platform: Platform, id: number, version: string | null): Status | null => {
  const kept = version === null ? undefined : getCache(platform).get(String(id));
  return kept?.version === version && performance.now() < kept.until ? kept.status : null;
};

/**
 * @param version from before the check; a check that stored its result has changed it since, so nothing is found
 */
export const keepStatus = (
  platform: Platform,
  id: number,
  { version, status }: { version: string | null; status: Status },
): void => {
  if (version === null || status === 'unchecked') return;
  getCache(platform).set(String(id), { version, status, until: performance.now() + handMadeChangeAge });
};
