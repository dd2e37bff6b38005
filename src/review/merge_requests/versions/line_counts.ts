/** Counts the added and removed lines of a version. A version never changes, so the counts are cached. */
import type { Platform } from '../../../core/platform.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import { storedDiffs } from './diff_cache.ts';
import type { VersionRow } from './json.ts';

export type LineCounts = { additions: number; deletions: number };

const maxVersions = 2_000;

const getCache = memoizePerStore((_platform: Platform) => makeLruCache<LineCounts>(maxVersions, () => 1));

/** Counts the lines of one file's diff. Lines before its first hunk name the file. */
export const countDiffLines = (diff: string): LineCounts => {
  const counts = { additions: 0, deletions: 0 };
  let at = `\n${diff}`.indexOf('\n@@');
  if (at === -1) return counts;
  while (at < diff.length) {
    const mark = diff[at];
    if (mark === '+') counts.additions += 1;
    if (mark === '-') counts.deletions += 1;
    const end = diff.indexOf('\n', at);
    at = end === -1 ? diff.length : end + 1;
  }
  return counts;
};

/** Counts the lines of a version; null if it is stored in part. */
export const countLines = async (
  asking: { platform: Platform; db: Reader },
  { id, state }: VersionRow,
): Promise<LineCounts | null> => {
  if (state === 'overflow') return null;
  const cache = getCache(asking.platform);
  const cached = cache.get(String(id));
  if (cached !== undefined) return cached;
  const { bytes } = await storedDiffs(asking, id);
  const files = JSON.parse(bytes.toString('utf8')) as { diff: string }[];
  const total: LineCounts = { additions: 0, deletions: 0 };
  for (const { diff } of files) {
    const { additions, deletions } = countDiffLines(diff);
    total.additions += additions;
    total.deletions += deletions;
  }
  cache.set(String(id), total);
  return total;
};
