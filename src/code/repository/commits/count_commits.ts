import type { Oid } from '../../../platform/git/protocol_types.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { waitAtMost } from '../../../platform/wait_at_most.ts';
import type { Code } from '../find_code.ts';

const maxCounts = 2_000;
/** Milliseconds that a page waits for a count. */
const maxWaitMilliseconds = 500;

const counts = makeLruCache<number>(maxCounts, () => 1);
/** Counts that git is making, by the same key. */
const counting = new Map<string, Promise<number>>();

const count = async ({ repository }: Code, commit: Oid, key: string): Promise<number> => {
  try {
    const { total } = await repository.ask('commits.list', {
      from: [commit],
      skip: 0,
      limit: 0,
      count: true,
    });
    counts.set(key, total ?? 0);
    return total ?? 0;
  } finally {
    counting.delete(key);
  }
};

/**
 * Counts the commits of a history, cached by commit.
 * @returns null if git takes longer than a page should: a later request gets the count
 */
export const countCommits = async (code: Code, commit: Oid): Promise<number | null> => {
  const key = `${code.repository.path} ${commit}`;
  const cached = counts.get(key);
  if (cached !== undefined) return cached;
  const pending = counting.get(key) ?? count(code, commit, key);
  counting.set(key, pending);
  // Requests that still wait get the failure; without any, nobody does.
  pending.catch(() => undefined);
  return await waitAtMost(pending, maxWaitMilliseconds, null);
};
