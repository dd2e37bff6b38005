/** Folders of a commit, resolved one tree after the other: git is never given a path of a user. */
import type { Context, MethodHandler } from '../context.ts';
import { flag, isOid, oid } from '../exec/arguments.ts';
import { GitError } from '../failure.ts';
import { makeLru } from '../lru.ts';
import { type TreeItem, bytesOf, folderMode, parseTree, submoduleMode } from '../odb/tree.ts';
import type { Oid, TreeEntry } from '../protocol.ts';
import { requireThere } from './missing.ts';
import { showName } from './parse.ts';

/** Bytes of one folder: half a million names. */
const largestTree = 24 * 2 ** 20;
/** Of a recursive list: hostile trees have a billion paths in few bytes. */
const most = { entries: 300_000, bytes: 48 * 2 ** 20, seconds: 10 };

/** Objects never change: what was read of one stays right. */
const treeIds = makeLru<Oid>(20_000);
const folders = makeLru<TreeItem[]>(50_000, (items) => items.length + 5);

/** The tree of a commit, of a tag of one, or a tree itself. @throws GitError `missing` */
export const treeOf = async ({ pools, dir }: Context, id: Oid): Promise<Oid> => {
  if (!isOid(id)) throw new GitError('invalid', 'not an object id');
  const key = `${dir} ${id}`;
  const known = treeIds.get(key);
  if (known !== undefined) return known;
  const info = await pools.catFile.info(dir, `${id}^{tree}`);
  if (info?.type !== 'tree') throw new GitError('missing', `there is no tree of ${id}`);
  treeIds.set(key, info.id);
  return info.id;
};

/** Kept: do not change the list. @throws GitError `missing`, `too_large` */
export const readFolder = async ({ pools, dir }: Context, id: Oid): Promise<readonly TreeItem[]> => {
  const key = `${dir} ${id}`;
  const known = folders.get(key);
  if (known !== undefined) return known;
  const found = await pools.catFile.contents(dir, id, largestTree);
  if (found?.type !== 'tree') throw new GitError('missing', `there is no tree ${id}`);
  const items = parseTree(found.data);
  folders.set(key, items);
  return items;
};

/** `a/b` -> its parts; null for what no path of a tree can be. */
const partsOf = (path: string): string[] | null => {
  if (path === '') return [];
  const parts = path.split('/');
  return parts.some((part) => ['', '.', '..'].includes(part)) || path.includes('\0') ? null : parts;
};

const isNamed = (item: TreeItem, part: string, bytes: string): boolean =>
  // A name that is no text was shown with marks in the place of what could not be: so it is found again.
  item.name === bytes || (part.includes('\uFFFD') && showName(item.name) === part);

/** The entry at a path; null: none. The root has none. */
export const findEntry = async (context: Context, commit: Oid, path: string): Promise<TreeItem | null> => {
  const parts = partsOf(path);
  if (parts === null || parts.length === 0) return null;
  let tree = await treeOf(context, commit);
  for (const [depth, part] of parts.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- each lies in the one before
    const items = await readFolder(context, tree);
    const bytes = bytesOf(part);
    const item = items.find((one) => isNamed(one, part, bytes));
    if (item === undefined) return null;
    if (depth === parts.length - 1) return item;
    if (item.mode !== folderMode) return null;
    tree = item.id;
  }
  return null;
};

const typeOf = (mode: number): TreeEntry['type'] => {
  if (mode === folderMode) return 'tree';
  return mode === submoduleMode ? 'commit' : 'blob';
};

export const modeText = (mode: number): string => mode.toString(8).padStart(6, '0');

const rank = { tree: 0, blob: 1, commit: 2 };

/** Folders, then files, then submodules; among themselves as git has them. */
const inOrder = (entries: TreeEntry[]): TreeEntry[] =>
  entries.toSorted((a, b) => rank[a.type] - rank[b.type]);

const flatList = async (context: Context, tree: Oid, folder: string): Promise<TreeEntry[]> => {
  const items = await readFolder(context, tree);
  return inOrder(
    items.map(({ id, name, mode }) => {
      const shown = showName(name);
      return { id, name: shown, type: typeOf(mode), path: `${folder}${shown}`, mode: modeText(mode) };
    }),
  );
};

const lists = makeLru<TreeEntry[]>(600_000, (entries) => entries.length + 10);

const parseLine = (line: string, folder: string): TreeEntry => {
  const tab = line.indexOf('\t');
  const [mode = '', , id = ''] = line.slice(0, tab).split(' ');
  const path = `${folder}${showName(line.slice(tab + 1))}`;
  const type = typeOf(Number.parseInt(mode, 8));
  return { id, name: path.slice(path.lastIndexOf('/') + 1), type, path, mode };
};

/** @throws GitError `too_large` for a tree of too many paths */
const deepList = async (context: Context, tree: Oid, folder: string): Promise<TreeEntry[]> => {
  const key = `${context.dir} ${tree} ${folder}`;
  const known = lists.get(key);
  if (known !== undefined) return known;
  await requireThere(context);
  const { stdout } = await context.exec.run({
    command: 'ls-tree',
    args: [flag('-r'), flag('-t'), flag('-z'), flag('--full-tree'), oid(tree)],
    dir: context.dir,
    slot: 'interactive',
    seconds: most.seconds,
    signal: context.signal,
    maxOutput: most.bytes,
  });
  const lines = stdout.toString('latin1').split('\0').slice(0, -1);
  if (lines.length > most.entries) throw new GitError('too_large', `the tree has ${lines.length} paths`);
  const entries = inOrder(lines.map((line) => parseLine(line, folder)));
  lists.set(key, entries);
  return entries;
};

const folderAt = async (context: Context, commit: Oid, path: string): Promise<Oid | null> => {
  if (path === '') return await treeOf(context, commit);
  const entry = await findEntry(context, commit, path);
  return entry?.mode === folderMode ? entry.id : null;
};

export const listTree: MethodHandler<'tree.list'> = async (params, context) => {
  const { commit, recursive, offset, limit } = params;
  const path = params.path.replace(/\/+$/, '');
  const tree = await folderAt(context, commit, path);
  if (tree === null) return { result: null };
  const folder = path === '' ? '' : `${path}/`;
  const entries = recursive ? await deepList(context, tree, folder) : await flatList(context, tree, folder);
  return { result: { entries: entries.slice(offset, offset + limit), total: entries.length } };
};
