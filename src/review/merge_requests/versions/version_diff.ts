/** Reads the diffs of versions with the ids of their files, for people who review them. Cached: they never change. */
import type { Call } from '../../../core/access/call.ts';
import { isBeyondLimits, isGitFailure } from '../../../platform/git/failure.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { type LruCache, makeLruCache } from '../../../platform/lru_cache.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import type { Platform } from '../../../core/platform.ts';
import { oneFileLimits } from '../../../code/repository/commits/diff_json.ts';
import { type ReadDiff, readDiff } from '../../../code/repository/commits/read_diff.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import type { Project } from '../../../projects/projects/find.ts';
import type { VersionRow } from './json.ts';

/** Weight of cached diffs, about their bytes. */
const maxWeight = 24 * 1024 * 1024;
/** Estimated weight of a file without its text. */
const fileWeight = 500;

const getCache = memoizePerStore((_platform: Platform): LruCache<ReadDiff> =>
  makeLruCache(maxWeight, ({ diffs }) =>
    diffs.reduce((sum, { diff }) => sum + fileWeight + 2 * diff.length, fileWeight),
  ),
);

export type VersionDiffRequest = {
  from: Oid | null;
  to: Oid;
  ignore_whitespace?: boolean;
  /** Only this file, by its paths, even if it is large. */
  paths?: string[];
};

/** Reads a diff of two commits of a merge request; null: git has them no longer. */
export const readVersionDiff = async (
  { platform }: Call,
  project: Project,
  request: VersionDiffRequest,
): Promise<ReadDiff | null> => {
  const { from, to, ignore_whitespace = false, paths } = request;
  const key = JSON.stringify([project.id, from, to, ignore_whitespace, paths]);
  const cached = getCache(platform).get(key);
  if (cached !== undefined) return cached;
  try {
    const read = await readDiff(
      { repository: getRepository(platform, project) },
      {
        from,
        to,
        ignore_whitespace,
        ...(paths !== undefined && { paths, limits: oneFileLimits }),
      },
    );
    getCache(platform).set(key, read);
    return read;
  } catch (error) {
    if (isGitFailure(error, 'missing') || isBeyondLimits(error)) return null;
    throw error;
  }
};

const nobody = { name: 'nobody', email: '', time: 0, offset: '+0000' };

/**
 * Returns the commit that shows, compared with the head of `after`, what changed since `before`. If the merge request was
 * rebased in between, this is `before` on the base of `after`, so that what the rebase brought along does not show.
 * `isExact`: false if the two conflict, and the diff has all changes.
 */
export const findInterdiffBase = async (
  { platform }: Call,
  project: Project,
  [before, after]: [VersionRow, VersionRow],
): Promise<{ from: Oid | null; isExact: boolean }> => {
  const { head_commit_sha: head, base_commit_sha: base } = before;
  if (head === null || after.base_commit_sha === null || base === after.base_commit_sha) {
    return { from: head, isExact: true };
  }
  try {
    const merged = await getRepository(platform, project).ask('merge.commit', {
      ours: after.base_commit_sha,
      theirs: head,
      message: '',
      author: nobody,
      committer: nobody,
    });
    return merged === null ? { from: head, isExact: false } : { from: merged.id, isExact: true };
  } catch (error) {
    if (isGitFailure(error, 'missing') || isBeyondLimits(error)) return { from: head, isExact: false };
    throw error;
  }
};
