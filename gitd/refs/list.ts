/** All refs below a prefix, read by git once for each change of them. */
import type { Context, MethodHandler } from '../context.ts';
import { type Argument, flag } from '../exec/arguments.ts';
import { GitError } from '../failure.ts';
import { makeLru } from '../lru.ts';
import type { Oid, Ref } from '../protocol.ts';
import { requireThere } from '../read/missing.ts';
import { generationOf } from './generation.ts';
import { describeRef } from './get.ts';

export type ListedRef = {
  name: string;
  target: Oid;
  /** null: it leads to none, or by more than one tag. */
  commit: Oid | null;
  isTag: boolean;
  /** Seconds, of the commit. */
  time: number;
};

const mostPerPage = 10_000;
const mostBytes = 192 * 2 ** 20;
/** What was read stays right until a ref changes; who changes one without telling us is noticed by then. */
const trust = 15_000;

type Listing = { refs: ListedRef[]; generation: number; until: number };

/** Of about 100 bytes each. */
const listings = makeLru<Listing>(500_000, ({ refs }) => refs.length + 20);

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
  await requireThere(context);
  const { stdout } = await context.exec.run({
    command: 'for-each-ref',
    // The pattern is a fixed text of ours or matches `prefixPattern`.
    args: [flag(format), prefix.replace(/\/$/, '') as Argument],
    dir: context.dir,
    slot: 'interactive',
    seconds: 20,
    signal: context.signal,
    maxOutput: mostBytes,
  });
  return stdout.toString('utf8').split('\n').slice(0, -1).map(parseLine);
};

/**
 * All refs below `prefix` (`refs/heads/`), in order of their names. Kept: do not change the list.
 * @throws GitError `no_repository`
 */
export const allRefs = async (context: Context, prefix: string): Promise<readonly ListedRef[]> => {
  if (!prefixPattern.test(prefix)) throw new GitError('invalid', 'not a prefix of refs');
  const key = `${context.dir} ${prefix}`;
  const generation = generationOf(context.dir);
  const known = listings.get(key);
  if (known !== undefined && known.generation === generation && performance.now() < known.until)
    return known.refs;
  const refs = await readRefs(context, prefix);
  listings.set(key, { refs, generation, until: performance.now() + trust });
  return refs;
};

/** `x`: anywhere in the name; `^x`: at its start; `x$`: at its end. Any case. */
const matcher = (search: string | undefined, prefix: string): ((ref: ListedRef) => boolean) => {
  if (search === undefined || search === '') return () => true;
  const lower = search.toLowerCase();
  const [atStart, atEnd] = [lower.startsWith('^'), lower.endsWith('$')];
  const wanted = lower.slice(atStart ? 1 : 0, atEnd ? -1 : undefined);
  return ({ name }) => {
    const short = name.slice(prefix.length).toLowerCase();
    if (atStart && atEnd) return short === wanted;
    if (atStart) return short.startsWith(wanted);
    return atEnd ? short.endsWith(wanted) : short.includes(wanted);
  };
};

export const listRefs: MethodHandler<'refs.list'> = async (params, context) => {
  const { prefix, search, sort, offset, limit } = params;
  const found = (await allRefs(context, prefix)).filter(matcher(search, prefix));
  const isNewestFirst = params.descending ?? true;
  if (sort === 'updated') found.sort((a, b) => (isNewestFirst ? b.time - a.time : a.time - b.time));
  else if (params.descending === true) found.reverse();
  const page = found.slice(offset, offset + Math.min(limit, mostPerPage));
  const refs: Ref[] = await Promise.all(page.map(async (ref) => await describeRef(context, ref)));
  return { result: { refs, total: found.length } };
};
