/** Reads commits by id; computes merge bases and ancestry. */
import type { Context, MethodHandler } from '../handler_types.ts';
import { count, flag, isOid, oid } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { makeLruCache } from '../lru_cache.ts';
import type { Commit, Oid } from '../protocol_records.ts';
import { requireRepository } from '../storage/missing_repository.ts';
import { parseCommit } from './parse_commit.ts';

/** Bytes of one commit. */
const maxCommitBytes = 16 * 2 ** 20;
const maxIds = 10_000;

/** Reads one commit; null if there is none. @throws GitError `invalid` unless `id` is an object id */
export const readCommit = async ({ pools, dir }: Context, id: Oid): Promise<Commit | null> => {
  if (!isOid(id)) throw new GitError('invalid', 'not an object id');
  const object = await pools.catFile.contents(dir, id, maxCommitBytes);
  return object?.type === 'commit' ? parseCommit(object.id, object.data) : null;
};

/** Reads commits in the order of their ids. @throws GitError `missing` */
export const readCommits = async (context: Context, ids: readonly Oid[]): Promise<Commit[]> =>
  await Promise.all(
    ids.map(async (id) => {
      const commit = await readCommit(context, id);
      if (commit === null) throw new GitError('missing', `there is no commit ${id}`);
      return commit;
    }),
  );

export const requireFew = (ids: readonly unknown[]): void => {
  if (ids.length > maxIds) throw new GitError('too_large', 'too many at once');
};

/** Time limit of a history walk. */
const seconds = 20;

export const getCommits: MethodHandler<'commits.get'> = async ({ ids }, context) => {
  requireFew(ids);
  // Check the type first, so that a huge blob is never read.
  const one = async (id: Oid): Promise<Commit | null> => {
    const info = isOid(id) ? await context.pools.catFile.info(context.dir, id) : null;
    return info?.type === 'commit' ? await readCommit(context, id) : null;
  };
  return { result: { commits: await Promise.all(ids.map(one)) } };
};

/** Merge bases and ancestry by ids; they never change. */
const relations = makeLruCache<string>(20_000);

const kept = async (context: Context, key: string, find: () => Promise<string>): Promise<string> => {
  const name = `${context.dir} ${key}`;
  const cached = relations.get(name);
  if (cached !== undefined) return cached;
  const value = await find();
  relations.set(name, value);
  return value;
};

/** Finds the best common ancestor; null if there is none. @throws GitError `missing` */
export const mergeBase = async (context: Context, ids: readonly Oid[]): Promise<Oid | null> => {
  const [first, ...others] = ids;
  if (first === undefined || others.length === 0 || ids.length > 100)
    throw new GitError('invalid', 'a merge base is of two commits or more');
  const args = [...(others.length > 1 ? [flag('--octopus')] : []), ...ids.map(oid)];
  const base = await kept(context, `base ${ids.join(' ')}`, async () => {
    await requireRepository(context);
    const run = { command: 'merge-base', dir: context.dir, slot: 'interactive', seconds } as const;
    const { code, stdout, stderr } = await context.exec.run({
      ...run,
      args,
      signal: context.signal,
      codes: [0, 1, 128],
    });
    if (code === 128) throw new GitError('missing', stderr);
    return stdout.toString().split('\n')[0] ?? '';
  });
  return base === '' ? null : base;
};

export const getMergeBase: MethodHandler<'commits.merge_base'> = async ({ ids }, context) => {
  const [first, ...others] = ids;
  if (first !== undefined && others.length > 0 && others.every((id) => id === first)) {
    if ((await readCommit(context, first)) === null)
      throw new GitError('missing', `there is no commit ${first}`);
    return { result: { id: first } };
  }
  return { result: { id: await mergeBase(context, ids) } };
};

export const isAncestor: MethodHandler<'commits.is_ancestor'> = async ({ ancestor, descendant }, context) => {
  if (ancestor === descendant) return { result: { is: (await readCommit(context, ancestor)) !== null } };
  const args = [flag('--is-ancestor'), oid(ancestor), oid(descendant)];
  const answer = await kept(context, `in ${ancestor} ${descendant}`, async () => {
    await requireRepository(context);
    const run = { command: 'merge-base', dir: context.dir, slot: 'interactive', seconds } as const;
    const { code, stderr } = await context.exec.run({
      ...run,
      args,
      signal: context.signal,
      codes: [0, 1, 128],
    });
    if (code === 128) throw new GitError('missing', stderr);
    return code === 0 ? 'yes' : 'no';
  });
  return { result: { is: answer === 'yes' } };
};

/** Whether a commit is in the history of another one. Never changes. */
const merged = makeLruCache<boolean>(50_000);

/** Tests all ids in one walk: `rev-list` lists exactly the commits that are not in the history of `into`. */
const findMerged = async (context: Context, into: Oid, ids: readonly Oid[]): Promise<void> => {
  const input = [...ids, `^${oid(into)}`].join('\n');
  const { stdout } = await context.exec.run({
    command: 'rev-list',
    args: [flag('--stdin'), flag('--topo-order'), count('--max-count=', 1_000_000)],
    dir: context.dir,
    slot: 'interactive',
    seconds,
    signal: context.signal,
    input: `${input}\n`,
  });
  const outside = new Set(stdout.toString('latin1').split('\n'));
  for (const id of ids) merged.set(`${context.dir} ${into} ${id}`, !outside.has(id));
};

export const mergedCommits: MethodHandler<'commits.merged'> = async ({ into, ids }, context) => {
  requireFew(ids);
  await requireRepository(context);
  const isKnown = (id: Oid): boolean | undefined => merged.get(`${context.dir} ${into} ${id}`);
  const uncached = ids.filter((id) => isKnown(id) === undefined);
  const there = await Promise.all(
    uncached.map(async (id) => (await context.pools.catFile.info(context.dir, oid(id)))?.type === 'commit'),
  );
  const unknown = uncached.filter((_id, index) => there[index]);
  if (unknown.length > 0) await findMerged(context, into, unknown);
  return { result: { merged: ids.map((id) => isKnown(id) ?? false) } };
};
