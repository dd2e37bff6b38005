/** Computes merge bases and ancestry of commits. Their answers never change, so they are cached. */
import type { Context, MethodHandler } from '../handler_types.ts';
import { type Argument, count, flag, oid } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { makeLruCache } from '../lru_cache.ts';
import type { Oid } from '../protocol_records.ts';
import { requireRepository } from '../storage/require_repository.ts';
import { checkIdCount, readCommit } from './read_commits.ts';

/** Time limit of a history walk. */
const walkTimeoutSeconds = 20;

/** Merge bases and ancestry by ids; they never change. */
const relations = makeLruCache<string>(20_000);

const cachedRelation = async (
  context: Context,
  key: string,
  find: () => Promise<string>,
): Promise<string> => {
  const name = `${context.dir} ${key}`;
  const cached = relations.get(name);
  if (cached !== undefined) return cached;
  const value = await find();
  relations.set(name, value);
  return value;
};

/** Runs `git merge-base`, which exits with 1 if the answer is no. @throws GitError `missing` */
const runMergeBase = async (context: Context, args: Argument[]) => {
  await requireRepository(context);
  const ended = await context.exec.run({
    command: 'merge-base',
    args,
    dir: context.dir,
    slot: 'interactive',
    seconds: walkTimeoutSeconds,
    signal: context.signal,
    codes: [0, 1, 128],
  });
  if (ended.code === 128) throw new GitError('missing', ended.stderr);
  return ended;
};

/** Finds the best common ancestor; null if there is none. @throws GitError `missing` */
export const mergeBase = async (context: Context, ids: readonly Oid[]): Promise<Oid | null> => {
  const [first, ...others] = ids;
  if (first === undefined || others.length === 0 || ids.length > 100)
    throw new GitError('invalid', 'a merge base needs 2 to 100 commits');
  const args = [...(others.length > 1 ? [flag('--octopus')] : []), ...ids.map(oid)];
  const base = await cachedRelation(context, `base ${ids.join(' ')}`, async () => {
    const { stdout } = await runMergeBase(context, args);
    return stdout.toString().split('\n')[0] ?? '';
  });
  return base === '' ? null : base;
};

export const getMergeBase: MethodHandler<'commits.merge_base'> = async ({ ids }, context) => {
  const [first, ...others] = ids;
  if (first !== undefined && others.length > 0 && others.every((id) => id === first)) {
    if ((await readCommit(context, first)) === null)
      throw new GitError('missing', `commit ${first} does not exist`);
    return { result: { id: first } };
  }
  return { result: { id: await mergeBase(context, ids) } };
};

export const isAncestor: MethodHandler<'commits.is_ancestor'> = async ({ ancestor, descendant }, context) => {
  if (ancestor === descendant) return { result: { is: (await readCommit(context, ancestor)) !== null } };
  const args = [flag('--is-ancestor'), oid(ancestor), oid(descendant)];
  const answer = await cachedRelation(context, `in ${ancestor} ${descendant}`, async () => {
    const { code } = await runMergeBase(context, args);
    return code === 0 ? 'yes' : 'no';
  });
  return { result: { is: answer === 'yes' } };
};

/** Returns whether a commit is in the history of another; an answer never changes. */
const mergedCache = makeLruCache<boolean>(50_000);

/** Returns the merged ids, from one walk: `rev-list` lists exactly the commits that are not in the history of `into`. */
const findMerged = async (context: Context, into: Oid, ids: readonly Oid[]): Promise<Set<Oid>> => {
  const input = [...ids, `^${oid(into)}`].join('\n');
  const { stdout } = await context.exec.run({
    command: 'rev-list',
    args: [flag('--stdin'), flag('--topo-order'), count('--max-count=', 1_000_000)],
    dir: context.dir,
    slot: 'interactive',
    seconds: walkTimeoutSeconds,
    signal: context.signal,
    input: `${input}\n`,
  });
  const outside = new Set(stdout.toString('latin1').split('\n'));
  for (const id of ids) mergedCache.set(`${context.dir} ${into} ${id}`, !outside.has(id));
  return new Set(ids.filter((id) => !outside.has(id)));
};

export const mergedCommits: MethodHandler<'commits.merged'> = async ({ into, ids }, context) => {
  checkIdCount(ids);
  await requireRepository(context);
  const cached = ids.map((id) => mergedCache.get(`${context.dir} ${into} ${id}`));
  const uncached = ids.filter((_id, at) => cached[at] === undefined);
  const exists = await Promise.all(
    uncached.map(async (id) => (await context.pools.catFile.info(context.dir, oid(id)))?.type === 'commit'),
  );
  const existing = uncached.filter((_id, index) => exists[index]);
  const merged = existing.length > 0 ? await findMerged(context, into, existing) : new Set();
  return { result: { merged: ids.map((id, at) => cached[at] ?? merged.has(id)) } };
};
