/** Counts the bytes of a tree by language. */
import type { Context, MethodHandler } from '../../handler_types.ts';
import { flag, oid } from '../../exec/arguments.ts';
import { GitError, isGitError } from '../../git_error.ts';
import { makeLruCache } from '../../lru_cache.ts';
import type { LanguageBytes, Oid } from '../../protocol_records.ts';
import { requireRepository } from '../../storage/require_repository.ts';
import { resolveTree } from '../list_tree.ts';
import { isExcluded } from './excluded_paths.ts';
import { findLanguage } from './language_names.ts';

/** Files past these limits do not count: hostile trees have a billion paths in few bytes. */
const maxFiles = 100_000;
const maxSeconds = 10;

/** By tree; a tree never changes. */
const cache = makeLruCache<LanguageBytes[]>(100_000, (languages) => languages.length + 5);

const fileMode = /^100/;
/** Stands for the language of `.h` files until all files are counted. */
const headers = 'headers';

/** Adds a line of `git ls-tree -l`: mode, type, id and size, a tab, and the path. */
const addLine = (line: string, sums: Map<string, number>): void => {
  const tab = line.indexOf('\t');
  const [mode = '', , , size = ''] = line.slice(0, tab).split(/ +/);
  const path = line.slice(tab + 1);
  if (!fileMode.test(mode)) return;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const language = /.\.h$/i.test(name) ? headers : findLanguage(name);
  if (language === null || isExcluded(path)) return;
  const bytes = Number(size);
  if (bytes > 0) sums.set(language, (sums.get(language) ?? 0) + bytes);
};

/** Reads the output of git in chunks. Returns whether the limit is reached. */
const makeLineReader = (sums: Map<string, number>) => {
  let rest = '';
  let count = 0;
  return (chunk: Buffer): boolean => {
    const lines = (rest + chunk.toString('latin1')).split('\0');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (count >= maxFiles) return true;
      count += 1;
      addLine(line, sums);
    }
    return false;
  };
};

const countTree = async (context: Context, tree: Oid): Promise<Map<string, number>> => {
  const { exec, dir, signal } = context;
  const sums = new Map<string, number>();
  const read = makeLineReader(sums);
  const args = [flag('-r'), flag('-l'), flag('-z'), flag('--full-tree'), oid(tree)];
  const seconds = maxSeconds;
  const process = await exec.start({ command: 'ls-tree', args, dir, slot: 'interactive', seconds, signal });
  process.stdin.end();
  let isFull = false;
  process.stdout.on('data', (chunk: Buffer) => {
    if (isFull || !read(chunk)) return;
    isFull = true;
    process.kill();
  });
  try {
    const { code } = await process.ended;
    if (code !== 0 && !isFull) throw new GitError('internal', process.stderrTail());
  } catch (error) {
    if (!isFull && !isGitError(error, 'limit')) throw error;
  }
  return sums;
};

/** Headers belong to the language of the family that has the most other bytes. */
const assignHeaders = (sums: Map<string, number>): void => {
  const bytes = sums.get(headers);
  sums.delete(headers);
  if (bytes === undefined) return;
  const [first = 'C'] = ['C', 'C++', 'Objective-C', 'Objective-C++'].toSorted(
    (one, other) => (sums.get(other) ?? 0) - (sums.get(one) ?? 0),
  );
  sums.set(first, (sums.get(first) ?? 0) + bytes);
};

export const countLanguages: MethodHandler<'tree.languages'> = async ({ commit }, context) => {
  const tree = await resolveTree(context, commit);
  const key = `${context.dir} ${tree}`;
  const cached = cache.get(key);
  if (cached !== undefined) return { result: { languages: cached } };
  await requireRepository(context);
  const sums = await countTree(context, tree);
  assignHeaders(sums);
  const languages = [...sums]
    .map(([name, bytes]) => ({ name, bytes }))
    .toSorted((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
  cache.set(key, languages);
  return { result: { languages } };
};
