/** Which paths a commit changes, for rules that ask. */
import { isBeyondLimits, isGitFailure } from '../git/failure.ts';
import { type Oid, zeroOid } from '../git/protocol_types.ts';
import type { Code } from '../repository/code.ts';
import { resolveRevision } from '../repository/resolve.ts';

/** More are not looked through: then anything may have changed. */
const mostPaths = 50_000;

/** Only the names are wanted. */
const limits = { files: mostPaths, lines: 1, bytes: 1, file_bytes: 0 };

const unlessTooMuch = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if (isBeyondLimits(error) || isGitFailure(error, 'missing')) return null;
    throw error;
  }
};

const pathsBetween = async ({ repository }: Code, from: Oid, to: Oid): Promise<string[] | null> => {
  const found = await unlessTooMuch(repository.ask('diff.files', { from, to, limits }));
  if (found === null || found.files > found.diffs.length) return null;
  return [...new Set(found.diffs.flatMap(({ old_path, new_path }) => [old_path, new_path]))];
};

/** Where the histories of both part. */
const sinceParting = async (code: Code, other: Oid, sha: Oid): Promise<string[] | null> => {
  const ids = [other, sha];
  const base = await unlessTooMuch(code.repository.ask('commits.merge_base', { ids }));
  return base === null || base.id === null ? null : await pathsBetween(code, base.id, sha);
};

/**
 * Answers by a name (null: what was there before) which paths the commit changes against it.
 * @param before zeros: there was nothing
 */
export const changedPaths =
  (code: Code, sha: Oid, before: Oid) =>
  async (compareTo: string | null): Promise<string[] | null> => {
    if (compareTo === null) return before === zeroOid ? null : await pathsBetween(code, before, sha);
    const found = await resolveRevision(code, compareTo);
    return found === null ? null : await sinceParting(code, found.commit, sha);
  };
