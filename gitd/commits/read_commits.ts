/** Reads commits by id. */
import type { Context, MethodHandler } from '../handler_types.ts';
import { isOid } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import type { Commit, Oid } from '../protocol_records.ts';
import { parseCommit } from './parse_commit.ts';

/** Maximum size of one commit in bytes. */
const maxCommitBytes = 16 * 2 ** 20;
const maxIds = 10_000;

/** Reads one commit; null if the object is missing or is not a commit. @throws GitError `invalid` unless `id` is an object id */
export const readCommit = async ({ pools, dir }: Context, id: Oid): Promise<Commit | null> => {
  if (!isOid(id)) throw new GitError('invalid', 'not an object id');
  const object = await pools.catFile.contents(dir, id, maxCommitBytes);
  return object?.type === 'commit' ? parseCommit(object.id, object.data) : null;
};

/** Reads commits in the order given. @throws GitError `missing` */
export const readCommits = async (context: Context, ids: readonly Oid[]): Promise<Commit[]> =>
  await Promise.all(
    ids.map(async (id) => {
      const commit = await readCommit(context, id);
      if (commit === null) throw new GitError('missing', `commit ${id} does not exist`);
      return commit;
    }),
  );

/** @throws GitError `too_large` for too many ids */
export const checkIdCount = (ids: readonly unknown[]): void => {
  if (ids.length > maxIds) throw new GitError('too_large', 'too many ids in one request');
};

export const getCommits: MethodHandler<'commits.get'> = async ({ ids }, context) => {
  checkIdCount(ids);
  // Check the type first, so that a huge blob is never read.
  const readIfCommit = async (id: Oid): Promise<Commit | null> => {
    const info = isOid(id) ? await context.pools.catFile.info(context.dir, id) : null;
    return info?.type === 'commit' ? await readCommit(context, id) : null;
  };
  return { result: { commits: await Promise.all(ids.map(readIfCommit)) } };
};
