/** Edits a tree. Reads only the folders on the paths in question; writes only changed folders. */
import { emptyTree, type Oid } from '../protocol_records.ts';
import type { ObjectWriter } from './loose_object_writer.ts';
import { buildTree, folderMode, type TreeItem } from './raw_tree.ts';

type Node = { mode: number; id: Oid; folder: Folder | null };
type Folder = { nodes: Map<string, Node>; isChanged: boolean };

/** The entry at a path. `blocked`: a file is where a folder of the path should be. */
export type PathEntry =
  | { kind: 'free' }
  | { kind: 'blocked'; by: string }
  | { kind: 'found'; mode: number; id: Oid; isFolder: boolean };

/** Edits by path. Paths are byte strings joined by slashes; the caller has checked them. */
export type TreeEditor = {
  find: (path: string) => Promise<PathEntry>;
  /** Puts a file and creates its folders. `find` must have reported nothing or a file there. */
  put: (path: string, mode: number, id: Oid) => Promise<void>;
  /** Removes an entry, and folders that become empty. */
  remove: (path: string) => Promise<void>;
  /** Writes changed folders and returns the id of the new tree. */
  build: (writer: Pick<ObjectWriter, 'add'>) => Promise<Oid>;
};

type ReadTree = (id: Oid) => Promise<readonly TreeItem[]>;
type Opener = { top: () => Promise<Folder>; inside: (node: Node) => Promise<Folder> };

const newFolder = (): Folder => ({ nodes: new Map(), isChanged: true });

const makeOpener = (root: Oid | null, readTree: ReadTree): Opener => {
  const load = async (id: Oid): Promise<Folder> => {
    const items = id === emptyTree ? [] : await readTree(id);
    const nodes = items.map(({ mode, name, id }): [string, Node] => [name, { mode, id, folder: null }]);
    return { nodes: new Map(nodes), isChanged: false };
  };
  let top: Promise<Folder> | null = null;
  return {
    top: () => (top ??= root === null ? Promise.resolve(newFolder()) : load(root)),
    inside: async (node) => (node.folder ??= await load(node.id)),
  };
};

/** Opens the folders of a path, without its last part. A string: the file in the way; null: one is missing. */
const walk = async (open: Opener, parts: string[]): Promise<Folder[] | string | null> => {
  const folders = [await open.top()];
  for (const [depth, part] of parts.slice(0, -1).entries()) {
    const node = folders.at(-1)?.nodes.get(part);
    if (node === undefined) return null;
    if (node.mode !== folderMode) return parts.slice(0, depth + 1).join('/');
    folders.push(await open.inside(node));
  }
  return folders;
};

const findEntry = async (open: Opener, parts: string[]): Promise<PathEntry> => {
  const folders = await walk(open, parts);
  if (typeof folders === 'string') return { kind: 'blocked', by: folders };
  const node = folders?.at(-1)?.nodes.get(parts.at(-1) ?? '');
  if (node === undefined) return { kind: 'free' };
  return { kind: 'found', mode: node.mode, id: node.id, isFolder: node.mode === folderMode };
};

const put = async (open: Opener, parts: string[], file: Node): Promise<void> => {
  let folder = await open.top();
  for (const part of parts.slice(0, -1)) {
    folder.isChanged = true;
    const node = folder.nodes.get(part) ?? { mode: folderMode, id: emptyTree, folder: newFolder() };
    if (node.mode !== folderMode) throw new Error('a parent of the path is a file');
    folder.nodes.set(part, node);
    folder = await open.inside(node);
  }
  folder.isChanged = true;
  folder.nodes.set(parts.at(-1) ?? '', file);
};

const remove = async (open: Opener, parts: string[]): Promise<void> => {
  const folders = await walk(open, parts);
  if (!Array.isArray(folders)) return;
  for (const [above, folder] of folders.toReversed().entries()) {
    folder.isChanged = true;
    // The entry itself, then each folder above that becomes empty.
    const below = folders[folders.length - above];
    if (below === undefined || below.nodes.size === 0) folder.nodes.delete(parts.at(-1 - above) ?? '');
  }
};

const build = (folder: Folder, writer: Pick<ObjectWriter, 'add'>): Oid | null => {
  const items: TreeItem[] = [];
  for (const [name, node] of folder.nodes) {
    const id = node.folder?.isChanged === true ? build(node.folder, writer) : node.id;
    if (id !== null) items.push({ mode: node.mode, name, id });
  }
  return items.length === 0 ? null : writer.add('tree', buildTree(items));
};

/**
 * Makes an editor.
 * @param root the tree to begin with; null: none
 */
export const makeTreeEditor = (root: Oid | null, readTree: ReadTree): TreeEditor => {
  const open = makeOpener(root, readTree);
  return {
    find: async (path) => findEntry(open, path.split('/')),
    put: async (path, mode, id) => put(open, path.split('/'), { mode, id, folder: null }),
    remove: async (path) => remove(open, path.split('/')),
    build: async (writer) => {
      const top = await open.top();
      if (root !== null && !top.isChanged) return root;
      return build(top, writer) ?? writer.add('tree', Buffer.alloc(0));
    },
  };
};
