/** Reads folders of a commit, tree by tree: git never receives a path of a user. */
import type { Context, MethodHandler } from '../handler_types.ts';
import { flag, isOid, oid } from '../exec/arguments.ts';
import { GitError } from '../git_error.ts';
import { makeLruCache } from '../lru_cache.ts';
import { type TreeItem, toByteString, folderMode, parseTree, submoduleMode } from '../odb/raw_tree.ts';
import type { Oid, TreeEntry } from '../protocol_records.ts';
import { requireRepository } from '../storage/require_repository.ts';
import { decodeFileName } from '../decode_text.ts';

/** Maximum bytes of one folder: about half a million names. */
const maxFolderBytes = 24 * 2 ** 20;
/** Limits of a recursive list: hostile trees have a billion paths in few bytes. */
const maxRecursive = { entries: 300_000, bytes: 48 * 2 ** 20, seconds: 10 };

/** Objects never change, so cached objects stay valid. */
const treeIds = makeLruCache<Oid>(20_000);
const folders = makeLruCache<TreeItem[]>(50_000, (items) => items.length + 5);

/** Resolves a commit, a tag of one, or a tree, to the id of the tree. @throws GitError `missing` */
export const resolveTree = async ({ pools, dir }: Context, id: Oid): Promise<Oid> => {
  if (!isOid(id)) throw new GitError('invalid', 'not an object id');
  const key = `${dir} ${id}`;
  const cached = treeIds.get(key);
  if (cached !== undefined) return cached;
  const info = await pools.catFile.info(dir, `${id}^{tree}`);
  if (info?.type !== 'tree') throw new GitError('missing', `no tree found for ${id}`);
  treeIds.set(key, info.id);
  return info.id;
};

/** Reads a folder. The list is cached: do not change it. @throws GitError `missing`, `too_large` */
export const readFolder = async ({ pools, dir }: Context, id: Oid): Promise<readonly TreeItem[]> => {
  const key = `${dir} ${id}`;
  const cached = folders.get(key);
  if (cached !== undefined) return cached;
  const object = await pools.catFile.contents(dir, id, maxFolderBytes);
  if (object?.type !== 'tree') throw new GitError('missing', `tree ${id} does not exist`);
  const items = parseTree(object.data);
  folders.set(key, items);
  return items;
};

/** Splits a path into its parts; null if no tree can have it. */
const splitPath = (path: string): string[] | null => {
  if (path === '') return [];
  const parts = path.split('/');
  return parts.some((part) => ['', '.', '..'].includes(part)) || path.includes('\0') ? null : parts;
};

const isNamed = (item: TreeItem, part: string, bytes: string): boolean =>
  // Names that are not UTF-8 were shown with replacement characters: compare the shown form.
  item.name === bytes || (part.includes('\uFFFD') && decodeFileName(item.name) === part);

/**
 * Finds the entry at a path; null if there is none. The root has none.
 * @param isExact only names whose bytes equal the path, for git programs that compare bytes
 */
export const findEntry = async (
  context: Context,
  commit: Oid,
  path: string,
  isExact = false,
): Promise<TreeItem | null> => {
  const parts = splitPath(path);
  if (parts === null || parts.length === 0) return null;
  let tree = await resolveTree(context, commit);
  for (const [depth, part] of parts.entries()) {
    const items = await readFolder(context, tree);
    const bytes = toByteString(part);
    const item = items.find((one) => (isExact ? one.name === bytes : isNamed(one, part, bytes)));
    if (item === undefined) return null;
    if (depth === parts.length - 1) return item;
    if (item.mode !== folderMode) return null;
    tree = item.id;
  }
  return null;
};

const getEntryType = (mode: number): TreeEntry['type'] => {
  if (mode === folderMode) return 'tree';
  return mode === submoduleMode ? 'commit' : 'blob';
};

export const modeText = (mode: number): string => mode.toString(8).padStart(6, '0');

const rank = { tree: 0, blob: 1, commit: 2 };

/** Sorts folders first, then files, then submodules; each in git's order. */
const inOrder = (entries: TreeEntry[]): TreeEntry[] =>
  entries.toSorted((a, b) => rank[a.type] - rank[b.type]);

const flatList = async (context: Context, tree: Oid, folder: string): Promise<TreeEntry[]> => {
  const items = await readFolder(context, tree);
  return inOrder(
    items.map(({ id, name, mode }) => {
      const shown = decodeFileName(name);
      return { id, name: shown, type: getEntryType(mode), path: `${folder}${shown}`, mode: modeText(mode) };
    }),
  );
};

const lists = makeLruCache<TreeEntry[]>(600_000, (entries) => entries.length + 10);

const parseLine = (line: string, folder: string): TreeEntry => {
  const tab = line.indexOf('\t');
  const [mode = '', , id = ''] = line.slice(0, tab).split(' ');
  const path = `${folder}${decodeFileName(line.slice(tab + 1))}`;
  const type = getEntryType(Number.parseInt(mode, 8));
  return { id, name: path.slice(path.lastIndexOf('/') + 1), type, path, mode };
};

/** Lists all paths below a tree. @throws GitError `too_large` for a tree of too many paths */
const deepList = async (context: Context, tree: Oid, folder: string): Promise<TreeEntry[]> => {
  const key = `${context.dir} ${tree} ${folder}`;
  const cached = lists.get(key);
  if (cached !== undefined) return cached;
  await requireRepository(context);
  const { stdout } = await context.exec.run({
    command: 'ls-tree',
    args: [flag('-r'), flag('-t'), flag('-z'), flag('--full-tree'), oid(tree)],
    dir: context.dir,
    slot: 'interactive',
    seconds: maxRecursive.seconds,
    signal: context.signal,
    maxOutput: maxRecursive.bytes,
  });
  const lines = stdout.toString('latin1').split('\0').slice(0, -1);
  if (lines.length > maxRecursive.entries)
    throw new GitError('too_large', `the tree has ${lines.length} paths`);
  const entries = inOrder(lines.map((line) => parseLine(line, folder)));
  lists.set(key, entries);
  return entries;
};

const folderAt = async (context: Context, commit: Oid, path: string): Promise<Oid | null> => {
  if (path === '') return await resolveTree(context, commit);
  const entry = await findEntry(context, commit, path);
  return entry?.mode === folderMode ? entry.id : null;
};

/** Removes slashes at the end. A pattern would read them again from each of their starts. */
const trimEndSlashes = (path: string): string => {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
};

export const listTree: MethodHandler<'tree.list'> = async (params, context) => {
  const { commit, recursive, offset, limit } = params;
  const path = trimEndSlashes(params.path);
  const tree = await folderAt(context, commit, path);
  if (tree === null) return { result: null };
  const folder = path === '' ? '' : `${path}/`;
  const entries = recursive ? await deepList(context, tree, folder) : await flatList(context, tree, folder);
  return { result: { entries: entries.slice(offset, offset + limit), total: entries.length } };
};
