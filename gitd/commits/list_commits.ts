/**
 * Lists commits page by page. Short walks without filters read commits through a pool of `git cat-file` processes; all
 * others run `git rev-list`.
 */
import type { Context, MethodHandler } from '../handler_types.ts';
import { type Argument, count, flag, isOid, oid, paths, text, without } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { makeLruCache } from '../lru_cache.ts';
import type { Commit, CommitWalk, Oid } from '../protocol_records.ts';
import { readCommits, checkIdCount } from './read_commits.ts';
import { requireRepository } from '../storage/require_repository.ts';

/** Maximum commits that a walk through the pool visits. Beyond that, one `git rev-list` is faster. */
const maxWalkedCommits = 500;
const maxCommits = 10_000;
const timeoutSeconds = 30;

/**
 * Commit ids by walk. Entries never expire: a walk starts at commit ids, so its result cannot change. The weight counts
 * bytes, because a key may contain a long path or author.
 */
const idsByWalk = makeLruCache<Oid[]>(16 * 2 ** 20, (ids, key) => 80 * ids.length + key.length + 200);
const countsByWalk = makeLruCache<number>(4 * 2 ** 20, (_count, key) => key.length + 200);

const isPlain = ({ not, path, since, until, author, search, order, skip, limit }: CommitWalk): boolean =>
  (not ?? []).length === 0 &&
  (path ?? '') === '' &&
  since === undefined &&
  until === undefined &&
  author === undefined &&
  search === undefined &&
  order !== 'topo' &&
  skip + limit <= maxWalkedCommits;

/** Inserts into a queue sorted newest first; commits of the same second stay in insertion order, as in git. */
const insert = (queue: Commit[], commit: Commit): void => {
  let [low, high] = [0, queue.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((queue[middle]?.committer.time ?? 0) >= commit.committer.time) low = middle + 1;
    else high = middle;
  }
  queue.splice(low, 0, commit);
};

const walkThroughPool = async (context: Context, walk: CommitWalk): Promise<Commit[]> => {
  const { from, skip, limit, first_parent: firstParentOnly = false } = walk;
  const seen = new Set<Oid>(from);
  const queue: Commit[] = [];
  const commits: Commit[] = [];
  for (const commit of await readCommits(context, [...seen])) insert(queue, commit);
  for (let passed = 0; commits.length < limit; passed += 1) {
    const next = queue.shift();
    if (next === undefined) break;
    if (passed >= skip) commits.push(next);
    const parents = (firstParentOnly ? next.parents.slice(0, 1) : next.parents).filter((id) => !seen.has(id));
    for (const id of parents) seen.add(id);
    for (const commit of await readCommits(context, parents)) insert(queue, commit);
  }
  return commits;
};

const filterArguments = ({
  path,
  since,
  until,
  author,
  search,
  first_parent: firstParentOnly,
  order,
}: CommitWalk): Argument[] => [
  ...(order === 'topo' ? [flag('--topo-order')] : []),
  ...(firstParentOnly === true ? [flag('--first-parent')] : []),
  ...(since === undefined ? [] : [count('--max-age=', Math.max(0, Math.trunc(since)))]),
  ...(until === undefined ? [] : [count('--min-age=', Math.max(0, Math.trunc(until)))]),
  // Fixed strings: a regular expression from a user could take exponential time.
  ...(author === undefined && search === undefined ? [] : [flag('--fixed-strings')]),
  ...(author === undefined ? [] : [text('--author=', author)]),
  ...(search === undefined ? [] : [flag('--regexp-ignore-case'), text('--grep=', search)]),
  ...(path === undefined || path === '' ? [] : paths([path])),
];

const revList = async (context: Context, walk: CommitWalk, args: Argument[]): Promise<string> => {
  await requireRepository(context);
  const ends = [...walk.from.map(oid), ...(walk.not ?? []).map(without)];
  const { dir, signal } = context;
  const { code, stdout, stderr } = await context.exec.run({
    command: 'rev-list',
    args: [...args, ...ends, ...filterArguments(walk)],
    dir,
    slot: 'interactive',
    seconds: timeoutSeconds,
    signal,
    codes: [0, 128],
  });
  if (code === 0) return stdout.toString('latin1');
  throw new GitError(/bad object|bad revision/.test(stderr) ? 'missing' : 'internal', stderr);
};

/** Builds the cache key: everything the answer depends on. */
const buildCacheKey = ({ dir }: Context, walk: CommitWalk): string => {
  const {
    from,
    not,
    path,
    since,
    until,
    author,
    search,
    first_parent: firstParentOnly,
    order,
    skip,
    limit,
  } = walk;
  return JSON.stringify([
    dir,
    from,
    not,
    path,
    since,
    until,
    author,
    search,
    firstParentOnly,
    order,
    skip,
    limit,
  ]);
};

/** Git reads `--skip` as a 32-bit integer; a larger value would wrap around and skip nothing. */
const maxSkip = 2 ** 31 - 1;

const listIds = async (context: Context, walk: CommitWalk): Promise<Oid[]> => {
  const key = buildCacheKey(context, walk);
  const cached = idsByWalk.get(key);
  if (cached !== undefined) return cached;
  const args = [count('--skip=', Math.min(walk.skip, maxSkip)), count('--max-count=', walk.limit)];
  const ids = (await revList(context, walk, args)).split('\n').filter(isOid);
  idsByWalk.set(key, ids);
  return ids;
};

/** Counts all commits of a walk; ignores `skip` and `limit`. */
const countCommits = async (context: Context, walk: CommitWalk): Promise<number> => {
  const key = buildCacheKey(context, { ...walk, skip: 0, limit: 0 });
  const cached = countsByWalk.get(key);
  if (cached !== undefined) return cached;
  const total = Number((await revList(context, walk, [flag('--count')])).trim());
  countsByWalk.set(key, total);
  return total;
};

export const listCommits: MethodHandler<'commits.list'> = async (params, context) => {
  const walk: CommitWalk = { ...params, limit: Math.min(params.limit, maxCommits) };
  checkIdCount([...walk.from, ...(walk.not ?? [])]);
  if (walk.from.length === 0) return { result: { commits: [], total: 0 } };
  const commits = isPlain(walk)
    ? await walkThroughPool(context, walk)
    : await readCommits(context, walk.limit === 0 ? [] : await listIds(context, walk));
  const isComplete = walk.skip === 0 && commits.length < walk.limit;
  if (walk.count !== true) return { result: { commits, total: isComplete ? commits.length : null } };
  return { result: { commits, total: isComplete ? commits.length : await countCommits(context, walk) } };
};
