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
import { type FolderRules, findExclusions, makeFolderRules, parseRules } from './linguist_attributes.ts';

/** Files past these limits do not count: hostile trees have a billion paths in few bytes. */
const maxFiles = 100_000;
const maxSeconds = 10;

/** Keyed by tree; a tree never changes. */
const cache = makeLruCache<LanguageBytes[]>(100_000, (languages) => languages.length + 5);

/** Limits of the `.gitattributes` that are read: files nearest to the root come first. */
const maxAttributes = { files: 100, bytes: 64 * 1024 };
/** Steps of matching for one tree: about 50 milliseconds. */
const maxSteps = 20_000_000;

const fileMode = /^100/;
/** Placeholder for the language of `.h` files until all files are counted. */
const headers = 'headers';

/** Characters of the listing after which files are counted immediately, by their paths only. */
const maxKept = 32 * 2 ** 20;
/** Counting stops at a longer path. */
const maxLine = 64 * 1024;

/** What is found in a tree. */
type ListedFiles = {
  files: { path: string; language: string; bytes: number }[];
  attributes: { folder: string; id: Oid; bytes: number }[];
  /** Bytes by language of the files that are not kept. */
  sums: Map<string, number>;
  /** Characters that were read. */
  length: number;
};

const add = (sums: Map<string, number>, language: string, bytes: number): void => {
  sums.set(language, (sums.get(language) ?? 0) + bytes);
};

const attributesName = '.gitattributes';

/** Adds a line of `git ls-tree -l`: mode, type, id and size, a tab, and the path. */
const addLine = (line: string, listed: ListedFiles): void => {
  listed.length += line.length;
  const isKept = listed.length <= maxKept;
  const tab = line.indexOf('\t');
  const [mode = '', , id = '', size = ''] = line.slice(0, tab).split(/ +/);
  const path = line.slice(tab + 1);
  if (!fileMode.test(mode)) return;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const bytes = Number(size);
  if (isKept && name === attributesName)
    listed.attributes.push({ folder: path.slice(0, -name.length - 1), id, bytes });
  const language = /.\.h$/i.test(name) ? headers : findLanguage(name);
  if (language === null || bytes === 0) return;
  if (isKept) listed.files.push({ path, language, bytes });
  else if (!isExcluded(path, {})) add(listed.sums, language, bytes);
};

/** Reads the output of git in chunks. Returns whether the limit is reached. */
const makeLineReader = (listed: ListedFiles) => {
  let rest = '';
  let count = 0;
  return (chunk: Buffer): boolean => {
    const lines = (rest + chunk.toString('latin1')).split('\0');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (count >= maxFiles) return true;
      count += 1;
      addLine(line, listed);
    }
    return rest.length > maxLine;
  };
};

const listFiles = async (context: Context, tree: Oid): Promise<ListedFiles> => {
  const { exec, dir, signal } = context;
  const listed: ListedFiles = { files: [], attributes: [], sums: new Map(), length: 0 };
  const read = makeLineReader(listed);
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
  return listed;
};

const depth = (folder: string): number => (folder === '' ? 0 : folder.split('/').length);

/** Reads the rules of folders, parents first. */
const readRules = async ({ pools, dir }: Context, { attributes }: ListedFiles): Promise<FolderRules> => {
  const read = attributes
    .filter(({ bytes }) => bytes <= maxAttributes.bytes)
    // Once for each folder, not in each comparison.
    .map((file) => ({ ...file, depth: depth(file.folder) }))
    .toSorted((one, other) => one.depth - other.depth)
    .slice(0, maxAttributes.files);
  const rules = await Promise.all(
    read.map(async ({ folder, id }) => {
      const object = await pools.catFile.contents(dir, id, maxAttributes.bytes);
      return [folder, parseRules(object?.data.toString('latin1') ?? '')] as const;
    }),
  );
  return makeFolderRules(new Map(rules.filter(([, own]) => own.length > 0)));
};

/** Sums up the bytes of the files that count: what `.gitattributes` say comes before what paths suggest. */
const countTree = async (context: Context, tree: Oid): Promise<Map<string, number>> => {
  const listed = await listFiles(context, tree);
  const rules = await readRules(context, listed);
  const budget = { left: maxSteps };
  for (const { path, language, bytes } of listed.files) {
    if (!isExcluded(path, findExclusions(rules, path, budget))) add(listed.sums, language, bytes);
  }
  return listed.sums;
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
