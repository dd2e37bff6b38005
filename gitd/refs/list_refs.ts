/** Lists refs below a prefix. Reads them once after each change. */
import type { Context, MethodHandler } from '../handler_types.ts';
import { type Argument, flag } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { makeLruCache } from '../lru_cache.ts';
import type { Ref, RefWalk } from '../protocol_records.ts';
import { requireRepository } from '../storage/require_repository.ts';
import { getGeneration } from './ref_generation.ts';
import { describeRef } from './read_refs.ts';
import type { ListedRef } from './listed_ref.ts';

const maxPerPage = 10_000;
const maxBytes = 192 * 2 ** 20;
/** Milliseconds that a list is cached. A change made outside of gitd is noticed by then. */
const trust = 15_000;

type Listing = { refs: ListedRef[]; generation: number; until: number };

/** Weighs about 100 bytes per ref. */
const listings = makeLruCache<Listing>(500_000, ({ refs }) => refs.length + 20);

const prefixPattern = /^refs\/(?:[A-Za-z0-9][A-Za-z0-9_-]*\/)*$/;

const format =
  '--format=%(refname) %(objectname) %(objecttype) %(*objectname) %(*objecttype) %(committerdate:unix)%(*committerdate:unix)';

const parseLine = (line: string): ListedRef => {
  const [name = '', target = '', type = '', peeled = '', peeledType = '', time = ''] = line.split(' ');
  const inner = peeledType === 'commit' ? peeled : null;
  return {
    name,
    target,
    commit: type === 'commit' ? target : inner,
    isTag: type === 'tag',
    time: Number(time),
  };
};

const readRefs = async (context: Context, prefix: string): Promise<ListedRef[]> => {
  await requireRepository(context);
  const { stdout } = await context.exec.run({
    command: 'for-each-ref',
    // The prefix matches `prefixPattern`.
    args: [flag(format), prefix.replace(/\/$/, '') as Argument],
    dir: context.dir,
    slot: 'interactive',
    seconds: 20,
    signal: context.signal,
    maxOutput: maxBytes,
  });
  return stdout.toString('utf8').split('\n').slice(0, -1).map(parseLine);
};

/**
 * Reads all refs below `prefix` (`refs/heads/`), sorted by name. The list is cached: do not change it.
 * @throws GitError `no_repository`
 */
export const readAllRefs = async (context: Context, prefix: string): Promise<readonly ListedRef[]> => {
  if (!prefixPattern.test(prefix)) throw new GitError('invalid', 'not a prefix of refs');
  const key = `${context.dir} ${prefix}`;
  const generation = getGeneration(context.dir);
  const cached = listings.get(key);
  if (cached !== undefined && cached.generation === generation && performance.now() < cached.until)
    return cached.refs;
  const refs = await readRefs(context, prefix);
  listings.set(key, { refs, generation, until: performance.now() + trust });
  return refs;
};

/** Builds a filter, ignoring case. `x`: anywhere in the name; `^x`: at its start; `x$`: at its end. */
const matcher = (search: string | undefined, prefix: string): ((ref: ListedRef) => boolean) => {
  if (search === undefined || search === '') return () => true;
  const lower = search.toLowerCase();
  const [atStart, atEnd] = [lower.startsWith('^'), lower.endsWith('$')];
  const term = lower.slice(atStart ? 1 : 0, atEnd ? -1 : undefined);
  return ({ name }) => {
    const short = name.slice(prefix.length).toLowerCase();
    if (atStart && atEnd) return short === term;
    if (atStart) return short.startsWith(term);
    return atEnd ? short.endsWith(term) : short.includes(term);
  };
};

type Page = { page: ListedRef[]; total: number };

const selectPage = async (params: RefWalk, context: Context): Promise<Page> => {
  const { prefix, search, sort, since = -Infinity, before = Infinity, offset, limit } = params;
  const isNamed = matcher(search, prefix);
  const allRefs = await readAllRefs(context, prefix);
  const refs = allRefs.filter((ref) => ref.time >= since && ref.time < before && isNamed(ref));
  const isNewestFirst = params.descending ?? true;
  if (sort === 'updated') refs.sort((a, b) => (isNewestFirst ? b.time - a.time : a.time - b.time));
  else if (params.descending === true) refs.reverse();
  return { page: refs.slice(offset, offset + Math.min(limit, maxPerPage)), total: refs.length };
};

export const listRefs: MethodHandler<'refs.list'> = async (params, context) => {
  const { page, total } = await selectPage(params, context);
  const refs: Ref[] = await Promise.all(page.map(async (ref) => await describeRef(context, ref)));
  return { result: { refs, total } };
};

export const listRefNames: MethodHandler<'refs.names'> = async (params, context) => {
  const { page, total } = await selectPage(params, context);
  return { result: { names: page.map(({ name }) => name), total } };
};
