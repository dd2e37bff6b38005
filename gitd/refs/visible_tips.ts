/** Reads what fetches and pushes need of all refs, once after each change. */
import type { Context } from '../handler_types.ts';
import { text } from '../exec/arguments.ts';
import { makeLruCache } from '../lru_cache.ts';
import type { Oid } from '../protocol_records.ts';
import { getGeneration } from './ref_generation.ts';

export type VisibleTips = {
  /** Targets of refs that every fetch sees, with the objects that their tags point to. */
  ownTips: Set<Oid>;
  /** Targets of refs of merge requests. */
  requestTips: Set<Oid>;
  /** Targets of refs of pipelines. */
  pipelineTips: Set<Oid>;
  /**
   * Targets of refs that keep commits of merge requests: no fetch sees them, but the API reads such commits by id.
   */
  keptTips: Set<Oid>;
  /** Branches and tags by full name with its case folded. */
  folded: Map<string, string>;
};

const temporary = 'refs/tmp/';
const keptAround = 'refs/keep-around/';
const requests = 'refs/merge-requests/';
const pipelines = 'refs/pipelines/';
/** Maximum ids and names in all cached listings. */
const maxCachedTips = 200_000;
/** Weight of an empty listing, in refs. */
const overhead = 10;

type Listing = { generation: number; seen: Promise<VisibleTips>; size: number };

const listings = makeLruCache<Listing>(maxCachedTips, ({ size }) => size + overhead);

/** More than 30 combining marks on one letter: normalizing them takes quadratic time. */
const excessMarks = /(?<!\p{M})(\p{M}{30})\p{M}+/gu;

/** Folds a ref name: two names with the same result are one file on a case-insensitive file system. */
export const foldRef = (ref: string): string => ref.replace(excessMarks, '$1').normalize('NFC').toLowerCase();

const tipsFor = ({ ownTips, requestTips, pipelineTips, keptTips }: VisibleTips, ref: string): Set<Oid> => {
  if (ref.startsWith(keptAround)) return keptTips;
  if (ref.startsWith(pipelines)) return pipelineTips;
  return ref.startsWith(requests) ? requestTips : ownTips;
};

const read = async ({ exec, dir, signal }: Context): Promise<VisibleTips> => {
  const args = [text('--format=', '%(objectname) %(*objectname) %(refname)')];
  const run = { command: 'for-each-ref', args, dir, slot: 'interactive', seconds: 60, signal } as const;
  const { stdout } = await exec.run({ ...run, maxOutput: 256 * 2 ** 20 });
  const seen: VisibleTips = {
    ownTips: new Set(),
    requestTips: new Set(),
    pipelineTips: new Set(),
    keptTips: new Set(),
    folded: new Map(),
  };
  for (const line of stdout.toString().split('\n')) {
    const [target = '', peeled = '', ...name] = line.split(' ');
    const ref = name.join(' ');
    if (ref === '' || ref.startsWith(temporary)) continue;
    const tips = tipsFor(seen, ref);
    tips.add(target);
    if (peeled !== '') tips.add(peeled);
    if (ref.startsWith('refs/heads/') || ref.startsWith('refs/tags/')) seen.folded.set(foldRef(ref), ref);
  }
  return seen;
};

/** Loads the tips of all refs. The result is cached: do not change it. */
export const loadVisibleTips = async (context: Context): Promise<VisibleTips> => {
  const { dir } = context;
  const generation = getGeneration(dir);
  const before = listings.get(dir);
  if (before?.generation === generation) return await before.seen;
  // Not aborted with this caller: others may be waiting for the same listing.
  const seen = read({ ...context, signal: new AbortController().signal });
  const entry: Listing = { generation, seen, size: 0 };
  listings.set(dir, entry);
  try {
    const size = Object.values(await seen).reduce((sum, one) => sum + one.size, 0);
    // One listing may exceed the limit of all.
    if (listings.get(dir) === entry)
      listings.set(dir, { ...entry, size: Math.min(size, maxCachedTips - overhead) });
  } catch {
    if (listings.get(dir) === entry) listings.delete(dir);
  }
  return await seen;
};
