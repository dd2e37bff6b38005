import type { Context, MethodHandler } from '../context.ts';
import { flag, oid, paths as pathArguments } from '../exec/arguments.ts';
import { GitError, isGitError } from '../failure.ts';
import { diffFlags } from '../pool/difftree.ts';
import { type DiffLimits, type Oid, emptyTree } from '../protocol.ts';
import { requireThere } from '../read/missing.ts';
import { treeOf } from '../read/tree.ts';
import { type DiffParser, makeDiffParser } from './parse.ts';
import { countDifferences } from './size.ts';

/** A hostile tree takes memory for as long as git may compare it. */
const seconds = 20;

/** What any caller may ask for at most. */
const most: DiffLimits = { files: 100_000, lines: 5_000_000, bytes: 64 * 2 ** 20, file_bytes: 8 * 2 ** 20 };

const withinReason = (limits: DiffLimits): DiffLimits => ({
  files: Math.min(limits.files, most.files),
  lines: Math.min(limits.lines, most.lines),
  bytes: Math.min(limits.bytes, most.bytes),
  file_bytes: Math.min(limits.file_bytes, most.file_bytes),
});

/** More paths than anybody looks at. */
const tooMany = { paths: 300_000, pairs: 100_000 };

/** @throws GitError `too_large` where too much differs for git to be asked */
const comparedTrees = async (context: Context, from: Oid | null, to: Oid): Promise<[Oid, Oid]> => {
  const trees = await treesOf(context, from, to);
  await countDifferences(context, ...trees, tooMany);
  return trees;
};

const treesOf = async (context: Context, from: Oid | null, to: Oid): Promise<[Oid, Oid]> =>
  await Promise.all([
    from === null || from === emptyTree ? emptyTree : treeOf(context, from),
    treeOf(context, to),
  ]);

/** With paths, which a process of the pool cannot be told. */
const runWithPaths = async (
  context: Context,
  trees: [Oid, Oid],
  parser: DiffParser,
  paths: string[],
): Promise<void> => {
  await requireThere(context);
  const { dir, signal, exec } = context;
  const args = [...diffFlags, oid(trees[0]), oid(trees[1]), ...pathArguments(paths)];
  const process = await exec.start({ command: 'diff-tree', args, dir, slot: 'interactive', seconds, signal });
  process.stdin.end();
  let enough = false;
  process.stdout.on('data', (chunk: Buffer) => {
    if (enough || !parser.push(chunk)) return;
    enough = true;
    process.kill();
  });
  try {
    const { code } = await process.ended;
    if (code !== 0) throw new GitError('internal', process.complaint());
  } catch (error) {
    if (!enough) throw error;
  }
};

/** Whether a file of a tree can have this path. git ends with an error at one that leads out of the repository. */
const isTreePath = (path: string): boolean =>
  !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

export const diffFiles: MethodHandler<'diff.files'> = async (params, context) => {
  const { from, to, limits } = params;
  const paths = params.paths?.filter(isTreePath) ?? [];
  const isNone = params.paths !== undefined && params.paths.length > 0 && paths.length === 0;
  const { dir, signal, pools } = context;
  const trees = await comparedTrees(context, from, to);
  if (isNone || trees[0] === trees[1]) return { result: { diffs: [], files: 0, overflow: false } };
  const parser = makeDiffParser(withinReason(limits), paths.length === 0);
  if (paths.length > 0) await runWithPaths(context, trees, parser, paths);
  else await pools.diffTree.run({ dir, trees, signal, seconds }, parser.push);
  return { result: parser.finish() };
};

/** The whole as git writes it, for `patch` and `git apply`. */
export const diffRaw: MethodHandler<'diff.raw'> = async ({ from, to, max }, context) => {
  const trees = await comparedTrees(context, from, to);
  const { dir, signal, exec } = context;
  const args = [
    flag('-r'),
    flag('-M'),
    flag('-p'),
    flag('--binary'),
    flag('--full-index'),
    flag('--no-ext-diff'),
  ];
  const run = { command: 'diff-tree', dir, slot: 'interactive', seconds, signal } as const;
  const maxOutput = Math.min(max, most.bytes);
  try {
    const all = [...args, flag('--no-textconv'), flag('--no-color'), ...trees.map(oid)];
    const { stdout } = await exec.run({ ...run, args: all, maxOutput });
    return { result: { whole: true }, body: stdout };
  } catch (error) {
    if ((isGitError(error, 'too_large') || isGitError(error, 'limit')) && !signal.aborted)
      return { result: { whole: false } };
    throw error;
  }
};
