/** Names the files in which the branches of a merge request conflict. */
import type { Call } from '../../../core/access/call.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
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

/**
 * Lists the conflicting files of the heads for which the request was checked. What conflicts in a pair of commits never
 * changes, so it is cached.
 * @returns null if git does not answer, or if the conflict has no path, as when a folder moved to two places
 */
export const loadConflictingFiles = async (
  { platform }: Pick<Call, 'platform'>,
  { merge_request, project }: LoadedMergeRequest,
): Promise<ConflictingFiles | null> => {
  const { checked_source_sha: theirs, checked_target_sha: ours } = merge_request;
  if (theirs === null || ours === null) return null;
  const key = `${project.id} ${ours} ${theirs}`;
  const cached = kept.get(key);
  if (cached !== undefined) return cached.total === 0 ? null : cached;
  try {
    const repository = getRepository(platform, project);
    const { conflicts } = await repository.ask('merge.check', { ours, theirs }, undefined, {
      seconds: maxSeconds,
    });
    const names = conflicts.slice(0, maxNames);
    const files = { names, total: conflicts.length };
    kept.set(key, files);
    return files.total === 0 ? null : files;
  } catch (error) {
    if (!isGitFailure(error)) throw error;
    return null;
  }
};
