/** Names the files in which the branches of a merge request conflict. */
import type { Call } from '../../../core/access/call.ts';
import { isBeyondLimits, isGitFailure } from '../../../platform/git/failure.ts';
import { makeFailedReads } from '../../../platform/failed_reads.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import type { LoadedMergeRequest } from '../find.ts';

/** @property total of all files; `names` has the first of them */
export type ConflictingFiles = { names: string[]; total: number };

/** Names that are kept and shown. */
const maxNames = 20;
/** Characters of all names in memory. */
const maxCharacters = 2 * 1024 * 1024;
/** Seconds for which a reader waits for git. */
const maxSeconds = 5;

const kept = makeLruCache<ConflictingFiles>(maxCharacters, ({ names }, key) =>
  [key, ...names].reduce((sum, { length }) => sum + length, 100),
);

/** Pairs of heads that take git too long: pages that update themselves would wait for it again and again. */
const slow = makeFailedReads(60_000, 600_000);

/**
 * Lists the conflicting files of the heads for which the request was checked. The conflicts of a pair of commits never
 * change, so they are cached.
 * @returns null if git does not answer, or if the conflict has no path, for example when a folder moved to two places
 */
export const loadConflictingFiles = async (
  { platform, now }: Pick<Call, 'platform' | 'now'>,
  { merge_request, project }: LoadedMergeRequest,
): Promise<ConflictingFiles | null> => {
  const { checked_source_sha: theirs, checked_target_sha: ours } = merge_request;
  if (theirs === null || ours === null) return null;
  const repository = getRepository(platform, project);
  const key = `${repository.path} ${ours} ${theirs}`;
  const cached = kept.get(key);
  if (cached !== undefined) return cached.total === 0 ? null : cached;
  if (slow.isPaused(key, now)) return null;
  try {
    const { conflicts } = await repository.ask('merge.check', { ours, theirs }, undefined, {
      seconds: maxSeconds,
    });
    const names = conflicts.slice(0, maxNames);
    const files = { names, total: conflicts.length };
    kept.set(key, files);
    return files.total === 0 ? null : files;
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    if (isBeyondLimits(error)) slow.add(key, now);
    return null;
  }
};
