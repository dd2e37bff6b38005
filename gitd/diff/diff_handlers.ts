/** Answers requests for the differences between two trees: parsed, or as git writes them. */
import type { Context, MethodHandler } from '../handler_types.ts';
import { flag, oid, paths as pathArguments } from '../exec/arguments.ts';
import { GitError, isGitError } from '../git_error.ts';
import { diffFlags } from '../pool/diff_tree.ts';
import { type DiffLimits, type Oid, emptyTree } from '../protocol_records.ts';
import { requireRepository } from '../storage/require_repository.ts';
import { resolveTree } from '../read/list_tree.ts';
import { type DiffParser, makeDiffParser } from './parse_diff.ts';
import { countDifferingPaths, type DiffSizeLimits } from './count_differing_paths.ts';
import { diffInPool } from './diff_in_pool.ts';

/** Time limit, because git's memory use keeps growing while it compares a hostile tree. */
const maxSeconds = 20;

/** Upper bounds for the limits of any caller. */
const maxLimits: DiffLimits = {
  files: 100_000,
  lines: 5_000_000,
  bytes: 64 * 2 ** 20,
  file_bytes: 8 * 2 ** 20,
};

const capLimits = (limits: DiffLimits): DiffLimits => ({
  files: Math.min(limits.files, maxLimits.files),
  lines: Math.min(limits.lines, maxLimits.lines),
  bytes: Math.min(limits.bytes, maxLimits.bytes),
  file_bytes: Math.min(limits.file_bytes, maxLimits.file_bytes),
});

/** How much two trees may differ: paths, and pairs of folders to compare. */
const maxDifferences: DiffSizeLimits = { maxPaths: 300_000, maxPairs: 100_000 };

/** Resolves both trees. @throws GitError `too_large` if they differ in too many paths */
const resolveComparedTrees = async (context: Context, from: Oid | null, to: Oid): Promise<[Oid, Oid]> => {
  const trees = await resolveTrees(context, from, to);
  await countDifferingPaths(context, ...trees, maxDifferences);
  return trees;
};

const resolveTrees = async (context: Context, from: Oid | null, to: Oid): Promise<[Oid, Oid]> =>
  await Promise.all([
    from === null || from === emptyTree ? emptyTree : resolveTree(context, from),
    resolveTree(context, to),
  ]);

type SeparateProcessOptions = { paths: string[]; ignoresWhitespace: boolean };

/** Diffs in a separate process: pooled processes accept no paths and no options. */
const diffInSeparateProcess = async (
  context: Context,
  trees: [Oid, Oid],
  parser: DiffParser,
  { paths, ignoresWhitespace }: SeparateProcessOptions,
): Promise<void> => {
  await requireRepository(context);
  const { dir, signal, exec } = context;
  const args = [
    ...diffFlags,
    ...(ignoresWhitespace ? [flag('--ignore-all-space')] : []),
    ...trees.map(oid),
    ...(paths.length > 0 ? pathArguments(paths) : []),
  ];
  const process = await exec.start({
    command: 'diff-tree',
    args,
    dir,
    slot: 'interactive',
    seconds: maxSeconds,
    signal,
  });
  process.stdin.end();
  let enough = false;
  process.stdout.on('data', (chunk: Buffer) => {
    if (enough || !parser.push(chunk)) return;
    enough = true;
    process.kill();
  });
  try {
    const { code } = await process.ended;
    if (code !== 0) throw new GitError('internal', process.stderrTail());
  } catch (error) {
    if (!enough) throw error;
  }
};

/** Returns whether a file in a tree can have this path. git fails on paths that leave the repository. */
const isTreePath = (path: string): boolean =>
  !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

export const diffFiles: MethodHandler<'diff.files'> = async (params, context) => {
  const { from, to, limits } = params;
  const paths = params.paths?.filter(isTreePath) ?? [];
  const areAllPathsInvalid = params.paths !== undefined && params.paths.length > 0 && paths.length === 0;
  const trees = await resolveComparedTrees(context, from, to);
  if (areAllPathsInvalid || trees[0] === trees[1])
    return { result: { diffs: [], files: 0, overflow: false } };
  const ignoresWhitespace = params.ignore_whitespace === true;
  const needsSeparateProcess = paths.length > 0 || ignoresWhitespace;
  const parser = makeDiffParser(capLimits(limits), !needsSeparateProcess);
  if (needsSeparateProcess) await diffInSeparateProcess(context, trees, parser, { paths, ignoresWhitespace });
  else await diffInPool(context, { trees, seconds: maxSeconds }, parser.push);
  return { result: parser.finish() };
};

/** Returns the whole diff as git writes it, for `patch` and `git apply`; without a body if it is too large. */
export const diffRaw: MethodHandler<'diff.raw'> = async ({ from, to, max }, context) => {
  const trees = await resolveComparedTrees(context, from, to);
  const { dir, signal, exec } = context;
  const args = [
    flag('-r'),
    flag('-M'),
    flag('-p'),
    flag('--binary'),
    flag('--full-index'),
    flag('--no-ext-diff'),
  ];
  const run = { command: 'diff-tree', dir, slot: 'interactive', seconds: maxSeconds, signal } as const;
  const maxOutput = Math.min(max, maxLimits.bytes);
  try {
    const patchArgs = [...args, flag('--no-textconv'), flag('--no-color'), ...trees.map(oid)];
    const { stdout } = await exec.run({ ...run, args: patchArgs, maxOutput });
    return { result: { whole: true }, body: stdout };
  } catch (error) {
    if ((isGitError(error, 'too_large') || isGitError(error, 'limit')) && !signal.aborted)
      return { result: { whole: false } };
    throw error;
  }
};
