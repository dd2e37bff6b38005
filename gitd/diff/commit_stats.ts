/** Counts the lines that a commit adds and deletes, while its diff streams by. */
import type { Context, MethodHandler } from '../handler_types.ts';
import { countDifferingPaths } from './count_differing_paths.ts';
import { diffInPool } from './diff_in_pool.ts';
import { GitError } from '../git_error.ts';
import { makeLruCache } from '../lru_cache.ts';
import type { Methods } from '../protocol.ts';
import { emptyTree, type Oid } from '../protocol_records.ts';
import { readCommit } from '../commits/read_commits.ts';
import { resolveTree } from '../read/list_tree.ts';

type Stats = Methods['commits.stats']['result'];

const hunkPattern = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/u;
/** Ends the list of files before the patches: two NULs, because no name is empty. */
const endOfList = '\0\0';

/** Counts lines in the output of `diff-tree --raw -p -z`, guided by the line counts in hunk headers. */
const makeLineCounter = () => {
  const stats: Stats = { additions: 0, deletions: 0 };
  let rest = '';
  let isListed = false;
  let remaining = { old: 0, new: 0 };

  const count = (line: string): void => {
    if (remaining.old === 0 && remaining.new === 0) {
      const hunk = hunkPattern.exec(line);
      if (hunk !== null) remaining = { old: Number(hunk[1] ?? 1), new: Number(hunk[2] ?? 1) };
      return;
    }
    const [isAdded, isDeleted] = [line.startsWith('+'), line.startsWith('-')];
    if (line.startsWith('\\')) return; // `\ No newline at end of file`
    if (isAdded) stats.additions += 1;
    if (isDeleted) stats.deletions += 1;
    if (!isAdded) remaining.old -= 1;
    if (!isDeleted) remaining.new -= 1;
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

const counted = makeLruCache<Stats>(20_000);
const maxSeconds = 20;

const countLines = async (context: Context, id: Oid): Promise<Stats> => {
  const commit = await readCommit(context, id);
  if (commit === null) throw new GitError('missing', `commit ${id} does not exist`);
  const [parent] = commit.parents;
  const before = parent === undefined ? emptyTree : await resolveTree(context, parent);
  await countDifferingPaths(context, before, commit.tree);
  const { stats, push } = makeLineCounter();
  if (before !== commit.tree)
    await diffInPool(context, { trees: [before, commit.tree], seconds: maxSeconds }, push);
  return stats;
};

export const countStats: MethodHandler<'commits.stats'> = async ({ id }, context) => {
  const key = `${context.dir} ${id}`;
  const cached = counted.get(key);
  const stats = cached ?? (await countLines(context, id));
  if (cached === undefined) counted.set(key, stats);
  return { result: stats };
};
