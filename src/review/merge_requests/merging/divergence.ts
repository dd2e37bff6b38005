/** Counts the commits that the branches of a merge request differ by. */
import type { Platform } from '../../../core/platform.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Divergence } from '../../../platform/git/protocol_types.ts';
import type { RepositoryLocation } from '../../../platform/git/repository.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import type { CheckedRequest } from './merge_status.ts';

const divergences = makeLruCache<Divergence>(2_000, () => 1);
/** Milliseconds that git may count for a page. */
const pageMilliseconds = 200;

/**
 * Counts the commits, cached by the pair of heads.
 * @param request as its merge status was checked
 * @returns null if the heads are unknown, or counting takes too long
 */
export const loadDivergence = async (
  platform: Platform,
  project: RepositoryLocation,
  request: Pick<CheckedRequest, 'head_sha' | 'checked_source_sha' | 'checked_target_sha'>,
  milliseconds = pageMilliseconds,
): Promise<Divergence | null> => {
  const { checked_source_sha: head, checked_target_sha: base } = request;
  if (head === null || base === null || head !== request.head_sha) return null;
  const repository = getRepository(platform, project);
  const key = `${repository.path} ${base} ${head}`;
  const cached = divergences.get(key);
  if (cached !== undefined) return cached;
  try {
    const { counts } = await repository.ask('commits.ahead_behind', {
      base,
      ids: [head],
      milliseconds,
    });
    const [counted = null] = counts;
    if (counted !== null) divergences.set(key, counted);
    return counted;
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    return null;
  }
};
