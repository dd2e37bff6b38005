/** What fetches and pushes need to know of all refs of a repository: read once after each change. */
import type { Context } from '../context.ts';
import { text } from '../exec/arguments.ts';
import type { Oid } from '../protocol.ts';
import { generationOf } from '../refs/generation.ts';

export type SeenRefs = {
  /** Refs that are shown to everybody who fetches, and what their tags lead to. */
  ownTips: Set<Oid>;
  /** Of merge requests. */
  requestTips: Set<Oid>;
  /** Of pipelines. */
  pipelineTips: Set<Oid>;
  /** Of refs that keep commits of merge requests: no fetch sees them, but the API names such commits by id. */
  keptTips: Set<Oid>;
  /** Branches and tags by their full name with its case folded. */
  folded: Map<string, string>;
};

const temporary = 'refs/tmp/';
const keptAround = 'refs/keep-around/';
const requests = 'refs/merge-requests/';
const pipelines = 'refs/pipelines/';
/** Refs of all kept listings together. */
const mostRefs = 200_000;

type Kept = { generation: number; seen: Promise<SeenRefs>; size: number };

const kept = new Map<string, Kept>();

/** Combining marks past 30 of one letter: a normalizer sorts them in quadratic time. */
const excessMarks = /(?<!\p{M})(\p{M}{30})\p{M}+/gu;

/** Names that a file system which ignores case takes for the same. */
export const foldRef = (ref: string): string => ref.replace(excessMarks, '$1').normalize('NFC').toLowerCase();

const tipsFor = ({ ownTips, requestTips, pipelineTips, keptTips }: SeenRefs, ref: string): Set<Oid> => {
  if (ref.startsWith(keptAround)) return keptTips;
  if (ref.startsWith(pipelines)) return pipelineTips;
  return ref.startsWith(requests) ? requestTips : ownTips;
};

const read = async ({ exec, dir, signal }: Context): Promise<SeenRefs> => {
  const args = [text('--format=', '%(objectname) %(*objectname) %(refname)')];
  const run = { command: 'for-each-ref', args, dir, slot: 'interactive', seconds: 60, signal } as const;
  const { stdout } = await exec.run({ ...run, maxOutput: 256 * 2 ** 20 });
  const seen: SeenRefs = {
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

/** The longest unused ones go first. */
const makeRoom = (): void => {
  let total = [...kept.values()].reduce((sum, { size }) => sum + size, 0);
  for (const [dir, { size }] of kept) {
    if (total <= mostRefs || kept.size === 1) return;
    kept.delete(dir);
    total -= size;
  }
};

/** Not to be changed by who gets it. */
export const seenRefs = async (context: Context): Promise<SeenRefs> => {
  const { dir } = context;
  const generation = generationOf(dir);
  const before = kept.get(dir);
  if (before?.generation === generation) {
    kept.delete(dir);
    kept.set(dir, before);
    return await before.seen;
  }
  // Another caller may wait for it, too: it does not end with this one.
  const seen = read({ ...context, signal: new AbortController().signal });
  const entry: Kept = { generation, seen, size: 0 };
  kept.delete(dir);
  kept.set(dir, entry);
  try {
    entry.size = Object.values(await seen).reduce((sum, { size }) => sum + size, 0);
    makeRoom();
  } catch {
    if (kept.get(dir) === entry) kept.delete(dir);
  }
  return await seen;
};
