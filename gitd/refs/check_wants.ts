/**
 * Checks that a client may fetch what it wants. Under protocol v2 git serves any object it has: including objects
 * removed by a force push, kept by a hidden ref, or copied for a merge request of a fork.
 */
import type { Context } from '../handler_types.ts';
import { count, flag } from '../exec/arguments.ts';
import type { HiddenRefs } from '../exec/hidden_refs.ts';
import type { Oid } from '../protocol_records.ts';
import { rememberReachable, selectUnknown } from './reachable_commits.ts';
import { getGeneration } from './ref_generation.ts';
import { type VisibleTips, loadVisibleTips } from './visible_tips.ts';

/** Maximum wants that are checked; no real client sends more. */
const maxUnadvertisedWants = 50_000;

/** Maximum wants that a running `cat-file` is asked for; one process is faster for more. */
const maxPooledWants = 100;

type Kinds = { commits: Oid[]; others: Oid[]; missing: Oid | null };

/** Reads the types of objects, in their order; null for missing ones. */
const readTypes = async (
  { exec, pools, dir, signal }: Context,
  wants: readonly Oid[],
): Promise<(string | null)[]> => {
  if (wants.length <= maxPooledWants) {
    const objects = await Promise.all(wants.map(async (oid) => await pools.catFile.info(dir, oid)));
    return objects.map((object) => object?.type ?? null);
  }
  const args = [flag('--batch-check=%(objecttype)')];
  const run = { command: 'cat-file', args, dir, slot: 'interactive', seconds: 60, signal } as const;
  const { stdout } = await exec.run({ ...run, input: `${wants.join('\n')}\n` });
  const lines = stdout.toString().trim().split('\n');
  return lines.map((line) => (line.endsWith(' missing') ? null : line));
};

const groupByKind = async (context: Context, wants: readonly Oid[]): Promise<Kinds> => {
  const types = await readTypes(context, wants);
  const kinds: Kinds = { commits: [], others: [], missing: null };
  for (const [at, oid] of wants.entries()) {
    const type = types[at] ?? null;
    if (type === null) kinds.missing ??= oid;
    else (type === 'commit' ? kinds.commits : kinds.others).push(oid);
  }
  return kinds;
};

/** Sets of tips, one for each kind of ref. */
type Tips = readonly ReadonlySet<Oid>[];

/** `kept`: whether refs that keep commits of merge requests count; they do not for a fetch. */
type RefsOutOfReach = HiddenRefs & { kept?: boolean };

const selectTips = (
  { ownTips, requestTips, pipelineTips, keptTips }: VisibleTips,
  hidden: RefsOutOfReach,
): Tips => [
  ownTips,
  ...(hidden.requests ? [] : [requestTips]),
  ...(hidden.pipelines ? [] : [pipelineTips]),
  ...(hidden.kept === true ? [keptTips] : []),
];

const toOids = (tips: Tips): Oid[] => tips.flatMap((some) => [...some]);

const toInput = (lines: Iterable<string>): string => `${[...lines].join('\n')}\n`;

/** The tips that a caller sees, and a text that is equal for equal tips. */
type SeenTips = { tips: Tips; key: string };

/** Finds a commit that no tip reaches; null if all are reachable. */
const findUnreachableCommit = async (
  context: Context,
  wanted: readonly Oid[],
  { tips, key }: SeenTips,
): Promise<Oid | null> => {
  const commits = selectUnknown(key, wanted);
  if (commits.length === 0) return null;
  const { exec, dir, signal } = context;
  const args = [flag('--max-count=1'), flag('--ignore-missing'), flag('--stdin')];
  const run = { command: 'rev-list', args, dir, slot: 'interactive', seconds: 60, signal } as const;
  const { stdout } = await exec.run({
    ...run,
    input: toInput([...commits, ...toOids(tips).map((tip) => `^${tip}`)]),
  });
  const unreachable = stdout.toString().trim() || null;
  if (unreachable === null) rememberReachable(context, key, { commits, tips: toOids(tips) });
  return unreachable;
};

/** Maximum commits walked outside of all refs. Beyond it, all ids count as unreachable. */
const maxUnreachableCommits = 100_000;

/** Finds all of these commits that no visible ref reaches, in one walk. */
export const findUnreachableCommits = async (
  context: Context,
  commits: readonly Oid[],
  hidden: RefsOutOfReach,
): Promise<Set<Oid>> => {
  const tips = selectTips(await loadVisibleTips(context), hidden);
  const unadvertised = commits.filter((oid) => !tips.some((some) => some.has(oid)));
  if (unadvertised.length === 0 || tips.every(({ size }) => size === 0)) return new Set(unadvertised);
  const args = [count('--max-count=', maxUnreachableCommits), flag('--ignore-missing'), flag('--stdin')];
  const { exec, dir, signal } = context;
  const { stdout } = await exec.run({
    command: 'rev-list',
    args,
    dir,
    slot: 'interactive',
    seconds: 60,
    signal,
    input: toInput([...unadvertised, ...toOids(tips).map((tip) => `^${tip}`)]),
  });
  const outside = stdout.toString('latin1').trim().split('\n');
  if (outside.length >= maxUnreachableCommits) return new Set(unadvertised);
  return new Set(unadvertised).intersection(new Set(outside));
};

/**
 * Finds a tree, blob or tag that no tip reaches; null if all are reachable. Walks all objects, faster with a bitmap,
 * and stops once all are found.
 */
const findUnreachableObject = async (
  { exec, dir, signal }: Context,
  objects: readonly Oid[],
  tips: Tips,
): Promise<Oid | null> => {
  if (objects.length === 0) return null;
  const args = [flag('--objects'), flag('--no-object-names'), flag('--use-bitmap-index'), flag('--stdin')];
  const process = await exec.start({
    command: 'rev-list',
    args,
    dir,
    slot: 'interactive',
    seconds: 120,
    signal,
  });
  const open = new Set(objects);
  let rest = '';
  process.stdin.end(toInput(toOids(tips)));
  for await (const chunk of process.stdout as AsyncIterable<Buffer>) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) open.delete(line.slice(0, 40));
    if (open.size === 0) break;
  }
  process.kill();
  await process.ended.catch(() => undefined);
  const [stray] = open;
  return stray ?? null;
};

/** Finds the first want that the client may not fetch; null if it may fetch all. */
export const findForbiddenWant = async (
  context: Context,
  wants: readonly Oid[],
  hidden: RefsOutOfReach,
): Promise<Oid | null> => {
  // Read before the tips, which are therefore never older.
  const key = `${context.dir} ${getGeneration(context.dir)} ${hidden.requests} ${hidden.pipelines} ${hidden.kept}`;
  const tips = selectTips(await loadVisibleTips(context), hidden);
  const unadvertised = wants.filter((oid) => !tips.some((some) => some.has(oid)));
  if (unadvertised.length === 0) return null;
  if (tips.every(({ size }) => size === 0) || unadvertised.length > maxUnadvertisedWants)
    return unadvertised[0] ?? null;
  const { commits, others, missing } = await groupByKind(context, unadvertised);
  return (
    missing ??
    (await findUnreachableCommit(context, commits, { tips, key })) ??
    (await findUnreachableObject(context, others, tips))
  );
};
