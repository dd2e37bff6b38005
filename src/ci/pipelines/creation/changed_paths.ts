/** Lists the paths that a commit changes, for `rules: changes`. */
import { isBeyondLimits, isGitFailure } from '../../../platform/git/failure.ts';
import { type Oid, zeroOid } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../../../code/repository/find_code.ts';
import { resolveRevision } from '../../../code/repository/refs/resolve.ts';

/** Above this number the result is null, and every rule counts as matching. */
const maxPaths = 50_000;

/** Limits the diff to file names. */
const limits = { files: maxPaths, lines: 1, bytes: 1, file_bytes: 0 };

const nullBeyondLimits = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if (isBeyondLimits(error) || isGitFailure(error, 'missing')) return null;
    throw error;
  }
};

const diffPaths = async ({ repository }: Code, from: Oid, to: Oid): Promise<string[] | null> => {
  const diff = await nullBeyondLimits(repository.ask('diff.files', { from, to, limits }));
  if (diff === null || diff.files > diff.diffs.length) return null;
  return [...new Set(diff.diffs.flatMap(({ old_path, new_path }) => [old_path, new_path]))];
};

/** Diffs against the merge base of both commits. */
const diffFromMergeBase = async (code: Code, other: Oid, sha: Oid): Promise<string[] | null> => {
  const ids = [other, sha];
  const base = await nullBeyondLimits(code.repository.ask('commits.merge_base', { ids }));
  return base === null || base.id === null ? null : await diffPaths(code, base.id, sha);
};

/**
 * Returns a function that lists the paths changed since a named revision; null compares with `before`. It returns null
 * if the paths cannot be determined.
 * @param before the previous commit of the ref; all zeros if there was none
 */
export const changedPathsLoader =
  (code: Code, sha: Oid, before: Oid) =>
  async (compareTo: string | null): Promise<string[] | null> => {
    if (compareTo === null) return before === zeroOid ? null : await diffPaths(code, before, sha);
    const resolved = await resolveRevision(code, compareTo);
    return resolved === null ? null : await diffFromMergeBase(code, resolved.commit, sha);
  };
