/**
 * Counts the paths that differ between two trees without expanding them. A few kilobytes can hold a billion paths,
 * and git would use all its memory to compare or merge them.
 */
import type { Context } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { forEachConcurrently } from '../for_each_concurrently.ts';
import { folderMode, type TreeItem } from '../odb/raw_tree.ts';
import { emptyTree, type Oid } from '../protocol_records.ts';
import { readFolder } from '../read/list_tree.ts';

/** Most differing paths, and most pairs of folders to read. */
export type DiffSizeLimits = { maxPaths: number; maxPairs: number };

const usualLimits: DiffSizeLimits = { maxPaths: 1_000_000, maxPairs: 100_000 };

/** Ids of the two folders at one path; the empty tree where one is missing. */
type Pair = [from: Oid, to: Oid];
/** Differences in one pair of folders. `below`: the pairs of subfolders to compare next. */
type Level = { files: number; below: string[] };

const toKey = (pair: Pair): string => pair.join(' ');
const parseKey = (key: string): Pair => key.split(' ') as Pair;

const getFolderId = (item: TreeItem | undefined): Oid => (item?.mode === folderMode ? item.id : emptyTree);
const isFile = (item: TreeItem | undefined): boolean => item !== undefined && item.mode !== folderMode;

const comparePair = async (context: Context, [from, to]: Pair): Promise<Level> => {
  const read = async (id: Oid): Promise<readonly TreeItem[]> =>
    id === emptyTree ? [] : readFolder(context, id);
  const [before, after] = await Promise.all([read(from), read(to)]);
  const remaining = new Map(before.map((item) => [item.name, item]));
  const level: Level = { files: 0, below: [] };
  const compare = (oldItem: TreeItem | undefined, newItem: TreeItem | undefined): void => {
    if (oldItem?.id === newItem?.id && oldItem?.mode === newItem?.mode) return;
    if (isFile(oldItem) || isFile(newItem)) level.files += 1;
    const pair: Pair = [getFolderId(oldItem), getFolderId(newItem)];
    if (pair[0] !== pair[1]) level.below.push(toKey(pair));
  };
  for (const item of after) {
    compare(remaining.get(item.name), item);
    remaining.delete(item.name);
  }
  for (const item of remaining.values()) compare(item, undefined);
  return level;
};

/** Reads each pair once, however often it occurs. */
const compareAll = async (context: Context, top: string, maxPairs: number): Promise<Map<string, Level>> => {
  const levels = new Map<string, Level>();
  for (let next = [top]; next.length > 0;) {
    if (levels.size + next.length > maxPairs) throw new GitError('too_large', 'too many folders differ');
    context.signal.throwIfAborted();
    const pairs = new Set<string>();
    await forEachConcurrently(next, async (key) => {
      const level = await comparePair(context, parseKey(key));
      levels.set(key, level);
      for (const pair of level.below) pairs.add(pair);
    });
    next = [...pairs].filter((key) => !levels.has(key));
  }
  return levels;
};

/** @throws GitError `too_large` beyond the limits */
export const countDifferingPaths = async (
  context: Context,
  from: Oid,
  to: Oid,
  limits = usualLimits,
): Promise<number> => {
  if (from === to) return 0;
  const top = toKey([from, to]);
  const levels = await compareAll(context, top, limits.maxPairs);
  const counted = new Map<string, number>();
  // No recursion: folders may be nested deeper than the call stack. A pair is counted after all pairs below it.
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
  if (total > limits.maxPaths) throw new GitError('too_large', `more than ${limits.maxPaths} paths differ`);
  return total;
};
