/** Lists the commit of each line of a file. */
import type { Answer, Context } from '../handler_types.ts';
import { flag, lines, oid, paths } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { folderMode, submoduleMode } from '../odb/raw_tree.ts';
import type { Methods } from '../protocol.ts';
import type { BlameRange } from '../protocol_records.ts';
import { requireCommit } from '../pool/read_object.ts';
import { readCommits } from '../commits/read_commits.ts';
import { findEntry } from './list_tree.ts';

type Params = Methods['blame.file']['params'];

const maxFileBytes = 10 * 2 ** 20;

const findContent = async (context: Context, { commit, path }: Params): Promise<Buffer | null> => {
  await requireCommit(context, commit);
  const entry = await findEntry(context, commit, path);
  if (entry === null || entry.mode === folderMode || entry.mode === submoduleMode) return null;
  const info = await context.pools.catFile.info(context.dir, entry.id);
  if (info === null) throw new GitError('missing', `blob ${entry.id} does not exist`);
  if (info.size > maxFileBytes) throw new GitError('too_large', 'the file is too large to blame');
  return (await context.pools.catFile.contents(context.dir, entry.id, maxFileBytes))?.data ?? null;
};

const countLines = (content: Buffer): number => {
  let count = 0;
  for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) count += 1;
  return content.length > 0 && content.at(-1) !== 10 ? count + 1 : count;
};

/** `<commit> <old line> <new line> <number of lines>`; all other lines begin with a word. */
const hunkPattern = /^([0-9a-f]{40}) \d+ (\d+) (\d+)$/u;

/** Sorts ranges by line and joins neighbours of one commit. */
const parseRanges = (output: string): BlameRange[] => {
  const hunks = output.split('\n').flatMap((line) => {
    const [, commit, first, count] = hunkPattern.exec(line) ?? [];
    return commit === undefined ? [] : [{ commit, first: Number(first), count: Number(count) }];
  });
  const ranges: BlameRange[] = [];
  for (const { commit, first, count } of hunks.toSorted((a, b) => a.first - b.first)) {
    const before = ranges.at(-1);
    if (before?.commit === commit && before.lines[1] === first - 1) before.lines[1] = first + count - 1;
    else ranges.push({ lines: [first, first + count - 1], commit });
  }
  return ranges;
};

/** Names that are not UTF-8 were shown with replacement characters and cannot be passed to git: null. */
const blame = async (
  context: Context,
  params: Params,
  range: [number, number],
): Promise<BlameRange[] | null> => {
  // No `--end-of-options`: blame of git 2.39 does not know it. An id, and a path after `--`, need none.
  const { code, stdout, stderr } = await context.exec.run({
    command: 'blame',
    args: [
      flag('--incremental'),
      ...(params.ignore_whitespace === true ? [flag('-w')] : []),
      lines(...range),
      oid(params.commit),
      ...paths([params.path]),
    ],
    dir: context.dir,
    slot: 'interactive',
    seconds: 60,
    signal: context.signal,
    codes: [0, 128],
  });
  if (code === 128 && stderr.includes('no such path')) return null;
  if (code === 128) throw new GitError('internal', stderr);
  return parseRanges(stdout.toString('utf8'));
};

/** Cut the range at the end of the file. */
export const blameFile = async (params: Params, context: Context): Promise<Answer<'blame.file'>> => {
  const content = await findContent(context, params);
  if (content === null) return { result: null };
  const [first, last] = params.range ?? [1, Number.MAX_SAFE_INTEGER];
  const end = Math.min(last, countLines(content));
  const ranges = first > end ? [] : await blame(context, params, [first, end]);
  if (ranges === null) return { result: null };
  const ids = new Set(ranges.map(({ commit }) => commit));
  return { result: { ranges, commits: await readCommits(context, [...ids]) }, body: content };
};
