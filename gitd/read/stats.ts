/** How many lines a commit adds and deletes, counted as its diff comes by. */
import type { Context, MethodHandler } from '../context.ts';
import { countDifferences } from '../diff/size.ts';
import { GitError } from '../failure.ts';
import { makeLru } from '../lru.ts';
import { emptyTree, type Methods, type Oid } from '../protocol.ts';
import { readCommit } from './commits.ts';
import { treeOf } from './tree.ts';

type Stats = Methods['commits.stats']['result'];

const hunkPattern = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/u;
/** Of the list that comes before the texts: no name is empty, so that it ends where two NULs meet. */
const endOfList = '\0\0';

/** Reads what `diff-tree --raw -p -z` writes. The heads of hunks say how many lines are theirs. */
const makeLineCounter = () => {
  const stats: Stats = { additions: 0, deletions: 0 };
  let rest = '';
  let isListed = false;
  let left = { old: 0, new: 0 };

  const count = (line: string): void => {
    if (left.old === 0 && left.new === 0) {
      const hunk = hunkPattern.exec(line);
      if (hunk !== null) left = { old: Number(hunk[1] ?? 1), new: Number(hunk[2] ?? 1) };
      return;
    }
    const [isAdded, isDeleted] = [line.startsWith('+'), line.startsWith('-')];
    if (line.startsWith('\\')) return; // no line feed at the end of the file
    if (isAdded) stats.additions += 1;
    if (isDeleted) stats.deletions += 1;
    if (!isAdded) left.old -= 1;
    if (!isDeleted) left.new -= 1;
  };

  return {
    stats,
    push: (chunk: Buffer): boolean => {
      rest += chunk.toString('latin1');
      if (!isListed) {
        const end = rest.indexOf(endOfList);
        if (end < 0) return false;
        isListed = true;
        rest = rest.slice(end + endOfList.length);
      }
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(count);
      return false;
    },
  };
};

const counted = makeLru<Stats>(20_000);

const countLines = async (context: Context, id: Oid): Promise<Stats> => {
  const commit = await readCommit(context, id);
  if (commit === null) throw new GitError('missing', `there is no commit ${id}`);
  const [parent] = commit.parents;
  const before = parent === undefined ? emptyTree : await treeOf(context, parent);
  await countDifferences(context, before, commit.tree);
  const { stats, push } = makeLineCounter();
  const request = {
    dir: context.dir,
    trees: [before, commit.tree] as [Oid, Oid],
    signal: context.signal,
    seconds: 20,
  };
  if (before !== commit.tree) await context.pools.diffTree.run(request, push);
  return stats;
};

export const countStats: MethodHandler<'commits.stats'> = async ({ id }, context) => {
  const key = `${context.dir} ${id}`;
  const known = counted.get(key);
  const stats = known ?? (await countLines(context, id));
  if (known === undefined) counted.set(key, stats);
  return { result: stats };
};
