/**
 * How many paths differ between two trees, found without unfolding them: a few kilobytes can hold a thousand million
 * paths, and git, told to compare or to merge those, takes all the memory it gets before it says a word.
 */
import type { Context } from '../context.ts';
import { GitError } from '../failure.ts';
import { eachAtOnce } from '../odb/loose.ts';
import { folderMode, type TreeItem } from '../odb/tree.ts';
import { emptyTree, type Oid } from '../protocol.ts';
import { readFolder } from '../read/tree.ts';

/** `pairs`: folders to read on the way, each with what it is compared to. */
export type DiffSizeLimits = { paths: number; pairs: number };

const usual: DiffSizeLimits = { paths: 1_000_000, pairs: 100_000 };

/** Ids of the folders that stand in one place; the empty tree where there is none. */
type Pair = [from: Oid, to: Oid];
type Level = { files: number; below: string[] };

const keyOf = (pair: Pair): string => pair.join(' ');
const pairOf = (key: string): Pair => key.split(' ') as Pair;

const folderOf = (item: TreeItem | undefined): Oid => (item?.mode === folderMode ? item.id : emptyTree);
const isFile = (item: TreeItem | undefined): boolean => item !== undefined && item.mode !== folderMode;

const comparePair = async (context: Context, [from, to]: Pair): Promise<Level> => {
  const read = async (id: Oid): Promise<readonly TreeItem[]> =>
    id === emptyTree ? [] : readFolder(context, id);
  const [before, after] = await Promise.all([read(from), read(to)]);
  const left = new Map(before.map((item) => [item.name, item]));
  const level: Level = { files: 0, below: [] };
  const compare = (old: TreeItem | undefined, now: TreeItem | undefined): void => {
    if (old?.id === now?.id && old?.mode === now?.mode) return;
    if (isFile(old) || isFile(now)) level.files += 1;
    const pair: Pair = [folderOf(old), folderOf(now)];
    if (pair[0] !== pair[1]) level.below.push(keyOf(pair));
  };
  for (const item of after) {
    compare(left.get(item.name), item);
    left.delete(item.name);
  }
  for (const item of left.values()) compare(item, undefined);
  return level;
};

/** Each pair once, however often it stands there. */
const compareAll = async (context: Context, top: string, most: number): Promise<Map<string, Level>> => {
  const levels = new Map<string, Level>();
  for (let next = [top]; next.length > 0;) {
    if (levels.size + next.length > most) throw new GitError('too_large', 'too many folders differ');
    context.signal.throwIfAborted();
    const found = new Set<string>();
    // oxlint-disable-next-line no-await-in-loop -- level by level
    await eachAtOnce(next, async (key) => {
      const level = await comparePair(context, pairOf(key));
      levels.set(key, level);
      for (const pair of level.below) found.add(pair);
    });
    next = [...found].filter((key) => !levels.has(key));
  }
  return levels;
};

/** @throws GitError `too_large` where more differ than the limits say */
export const countDifferences = async (
  context: Context,
  from: Oid,
  to: Oid,
  limits = usual,
): Promise<number> => {
  if (from === to) return 0;
  const top = keyOf([from, to]);
  const levels = await compareAll(context, top, limits.pairs);
  const counted = new Map<string, number>();
  // Folders lie deeper than the call stack may be: a pair is counted once all below it are.
  const stack = [top];
  for (let key = stack.at(-1); key !== undefined; key = stack.at(-1)) {
    const { files, below } = levels.get(key) ?? { files: 0, below: [] };
    const missing = below.filter((pair) => !counted.has(pair));
    stack.push(...missing);
    if (missing.length > 0) continue;
    stack.pop();
    counted.set(
      key,
      below.reduce((sum, pair) => sum + (counted.get(pair) ?? 0), files),
    );
  }
  const total = counted.get(top) ?? 0;
  if (total > limits.paths) throw new GitError('too_large', `more than ${limits.paths} paths differ`);
  return total;
};
