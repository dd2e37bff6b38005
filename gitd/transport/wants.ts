/**
 * Whether a client may have what it wants. Git itself serves under protocol v2 any object that it has, reachable or
 * not: what was taken away by a force push, what a hidden ref keeps, what a merge request of a fork brought.
 */
import type { Context } from '../context.ts';
import { flag } from '../exec/arguments.ts';
import type { Hidden } from '../exec/env.ts';
import type { Oid } from '../protocol.ts';
import { seenRefs } from './seen_refs.ts';

/** Wants beyond this are no work of a client, but of somebody who wants to keep us busy. */
const mostOdd = 50_000;

type Kinds = { commits: Oid[]; others: Oid[]; missing: Oid | null };

const kindsOf = async ({ exec, dir, signal }: Context, wants: readonly Oid[]): Promise<Kinds> => {
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

/** Of one kind of refs and another. */
type Tips = readonly ReadonlySet<Oid>[];

const each = (tips: Tips): Oid[] => tips.flatMap((some) => [...some]);

const inputOf = (lines: Iterable<string>): string => `${[...lines].join('\n')}\n`;

/** A commit among these that no tip leads to; null: none. */
const strayCommit = async (
  { exec, dir, signal }: Context,
  commits: readonly Oid[],
  tips: Tips,
): Promise<Oid | null> => {
  if (commits.length === 0) return null;
  const args = [flag('--max-count=1'), flag('--ignore-missing'), flag('--stdin')];
  const run = { command: 'rev-list', args, dir, slot: 'interactive', seconds: 60, signal } as const;
  const { stdout } = await exec.run({
    ...run,
    input: inputOf([...commits, ...each(tips).map((tip) => `^${tip}`)]),
  });
  return stdout.toString().trim() || null;
};

/**
 * A tree or blob (or tag) among these that no tip leads to; null: none. Looks through all objects, faster where
 * there is a bitmap, and stops when it has found all.
 */
const strayObject = async (
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
  process.stdin.end(inputOf(each(tips)));
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

/**
 * The first that is not to be had; null: the client may have them all.
 * @param hidden `kept`: whether what is kept of merge requests counts as reachable; a fetch does not get it
 */
export const forbiddenWant = async (
  context: Context,
  wants: readonly Oid[],
  hidden: Hidden & { kept?: boolean },
): Promise<Oid | null> => {
  const { ownTips, requestTips, pipelineTips, keptTips } = await seenRefs(context);
  const tips = [
    ownTips,
    ...(hidden.requests ? [] : [requestTips]),
    ...(hidden.pipelines ? [] : [pipelineTips]),
    ...(hidden.kept === true ? [keptTips] : []),
  ];
  const odd = wants.filter((oid) => !tips.some((some) => some.has(oid)));
  if (odd.length === 0) return null;
  if (tips.every(({ size }) => size === 0) || odd.length > mostOdd) return odd[0] ?? null;
  const { commits, others, missing } = await kindsOf(context, odd);
  return missing ?? (await strayCommit(context, commits, tips)) ?? (await strayObject(context, others, tips));
};
