/** Finds the last commit that changed each entry of a folder, in one walk through the history. */
import type { Context, MethodHandler } from '../handler_types.ts';
import { type Argument, flag, oid, paths } from '../exec/arguments.ts';
import { GitError, isGitError } from '../git_error.ts';
import { makeLruCache } from '../lru_cache.ts';
import type { Oid } from '../protocol_records.ts';
import { readCommits } from '../commits/read_commits.ts';
import { decodeFileName } from '../decode_text.ts';
import { requireRepository } from '../storage/require_repository.ts';

const maxNames = 2_000;
const maxMilliseconds = 20_000;

/** The commits of some entries of a folder. `isWhole`: other names are in no commit. */
type Known = { commitByName: Map<string, Oid>; isWhole: boolean };

/** By commit and folder; they never change. Weights are bytes. */
const cache = makeLruCache<Known>(32 * 2 ** 20, ({ commitByName }, key) =>
  [...commitByName.keys()].reduce((sum, name) => sum + 2 * name.length + 100, key.length + 200),
);

const commitMark = '\u0001';

/** Reads the output of `git log -z --name-only`: commits and the paths that each changed. */
const makeLogParser = (folder: string, commitByName: Map<string, Oid>, missing: Set<string>) => {
  let rest = '';
  let commit = '';
  const readToken = (token: string): void => {
    if (token.startsWith(commitMark)) {
      commit = token.slice(1);
      return;
    }
    const path = token.startsWith('\n') ? token.slice(1) : token;
    if (!path.startsWith(folder)) return;
    const [name = ''] = path.slice(folder.length).split('/', 1);
    const shown = decodeFileName(name);
    if (missing.delete(shown)) commitByName.set(shown, commit);
  };
  /** Returns whether every name was found. */
  return (chunk: Buffer): boolean => {
    const tokens = (rest + chunk.toString('latin1')).split('\0');
    rest = tokens.pop() ?? '';
    for (const token of tokens) readToken(token);
    return missing.size === 0;
  };
};

/** Walks until every name was found, the history ends, or the time is over. Returns whether the walk was finished. */
const walk = async (
  context: Context,
  { commit, path, milliseconds }: { commit: Oid; path: string; milliseconds: number },
  [commitByName, missing]: [Map<string, Oid>, Set<string>],
): Promise<boolean> => {
  await requireRepository(context);
  const { exec, dir, signal } = context;
  const args: Argument[] = [
    flag('-z'),
    // For merges, only changes against every parent.
    flag('-c'),
    flag('--name-only'),
    flag('--no-renames'),
    flag('--no-show-signature'),
    flag('--format=%x01%H'),
    flag('--end-of-options'),
    oid(commit),
    ...(path === '' ? [] : paths([path])),
  ];
  const seconds = milliseconds / 1_000;
  const folder = path === '' ? '' : `${Buffer.from(path).toString('latin1')}/`;
  const read = makeLogParser(folder, commitByName, missing);
  const process = await exec.start({ command: 'log', args, dir, slot: 'interactive', seconds, signal });
  process.stdin.end();
  let isDone = false;
  process.stdout.on('data', (chunk: Buffer) => {
    if (isDone || !read(chunk)) return;
    isDone = true;
    process.kill();
  });
  try {
    const { code } = await process.ended;
    if (code !== 0 && !isDone) throw new GitError('internal', process.stderrTail());
    // The last path has no mark behind it until the end.
    read(Buffer.from('\0'));
    return true;
  } catch (error) {
    if (isDone) return true;
    if (isGitError(error, 'limit')) return false;
    throw error;
  }
};

export const lastCommits: MethodHandler<'tree.last_commits'> = async (params, context) => {
  const { commit, path, names } = params;
  if (names.length > maxNames) throw new GitError('too_large', 'too many names in one request');
  const milliseconds = Math.min(Math.max(params.milliseconds, 1), maxMilliseconds);
  const key = `${context.dir} ${oid(commit)} ${path}`;
  const cached = cache.get(key);
  const commitByName = new Map(cached?.commitByName);
  const missing = new Set(cached?.isWhole === true ? [] : names.filter((name) => !commitByName.has(name)));
  const isFinished =
    missing.size === 0 || (await walk(context, { commit, path, milliseconds }, [commitByName, missing]));
  cache.set(key, { commitByName, isWhole: cached?.isWhole === true || (isFinished && missing.size > 0) });
  const ids = names.map((name) => commitByName.get(name) ?? null);
  const distinct = [...new Set(ids)].filter((id) => id !== null);
  return { result: { ids, commits: await readCommits(context, distinct), isFinished } };
};
