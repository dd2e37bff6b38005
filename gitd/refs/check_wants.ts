/**
 * Checks that a client may fetch what it wants. Under protocol v2 git serves any object it has: including objects
 * removed by a force push, kept by a hidden ref, or copied for a merge request of a fork.
 */
import type { Context } from '../handler_types.ts';
import { count, flag } from '../exec/arguments.ts';
import type { Hidden } from '../exec/environment.ts';
import type { Oid } from '../protocol_records.ts';
import { type VisibleTips, loadVisibleTips } from './visible_tips.ts';

/** Maximum wants that are checked; no real client sends more. */
const maxUnadvertisedWants = 50_000;

type Kinds = { commits: Oid[]; others: Oid[]; missing: Oid | null };

const groupByKind = async ({ exec, dir, signal }: Context, wants: readonly Oid[]): Promise<Kinds> => {
  const args = [flag('--batch-check=%(objecttype)')];
  const run = { command: 'cat-file', args, dir, slot: 'interactive', seconds: 60, signal } as const;
  const { stdout } = await exec.run({ ...run, input: `${wants.join('\n')}\n` });
  const kinds: Kinds = { commits: [], others: [], missing: null };
  for (const [at, line] of stdout.toString().trim().split('\n').entries()) {
    const oid = wants[at] ?? '';
    if (line.endsWith(' missing')) kinds.missing ??= oid;
    else (line === 'commit' ? kinds.commits : kinds.others).push(oid);
  }
  return kinds;
};

/** Sets of tips, one for each kind of ref. */
type Tips = readonly ReadonlySet<Oid>[];

/** `kept`: whether refs that keep commits of merge requests count; they do not for a fetch. */
type HiddenRefs = Hidden & { kept?: boolean };

const selectTips = (
  { ownTips, requestTips, pipelineTips, keptTips }: VisibleTips,
  hidden: HiddenRefs,
): Tips => [
  ownTips,
  ...(hidden.requests ? [] : [requestTips]),
  ...(hidden.pipelines ? [] : [pipelineTips]),
  ...(hidden.kept === true ? [keptTips] : []),
];

const toOids = (tips: Tips): Oid[] => tips.flatMap((some) => [...some]);

const toInput = (lines: Iterable<string>): string => `${[...lines].join('\n')}\n`;

/** Finds a commit that no tip reaches; null if all are reachable. */
const findUnreachableCommit = async (
  { exec, dir, signal }: Context,
  commits: readonly Oid[],
  tips: Tips,
): Promise<Oid | null> => {
  if (commits.length === 0) return null;
  const args = [flag('--max-count=1'), flag('--ignore-missing'), flag('--stdin')];
  const run = { command: 'rev-list', args, dir, slot: 'interactive', seconds: 60, signal } as const;
  const { stdout } = await exec.run({
    ...run,
    input: toInput([...commits, ...toOids(tips).map((tip) => `^${tip}`)]),
  });
  return stdout.toString().trim() || null;
};

/** Maximum commits walked outside of all refs. Beyond it, all ids count as unreachable. */
const maxUnreachableCommits = 100_000;

/** Finds all of these commits that no visible ref reaches, in one walk. */
export const findUnreachableCommits = async (
  context: Context,
  commits: readonly Oid[],
  hidden: HiddenRefs,
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
  hidden: HiddenRefs,
): Promise<Oid | null> => {
  const tips = selectTips(await loadVisibleTips(context), hidden);
  const unadvertised = wants.filter((oid) => !tips.some((some) => some.has(oid)));
  if (unadvertised.length === 0) return null;
  if (tips.every(({ size }) => size === 0) || unadvertised.length > maxUnadvertisedWants)
    return unadvertised[0] ?? null;
  const { commits, others, missing } = await groupByKind(context, unadvertised);
  return (
    missing ??
    (await findUnreachableCommit(context, commits, tips)) ??
    (await findUnreachableObject(context, others, tips))
  );
};
