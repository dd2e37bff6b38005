/** Counts the paths of a fully expanded tree: a few kilobytes can hold a billion paths. */
import type { Context } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { forEachConcurrently } from '../for_each_concurrently.ts';
import { folderMode } from '../odb/raw_tree.ts';
import type { Oid } from '../protocol_records.ts';
import { readFolder } from './list_tree.ts';

export type TreeLimits = { files: number; folders: number };

const usual: TreeLimits = { files: 2_000_000, folders: 200_000 };

type Folder = { files: number; folders: Oid[] };

/** Reads each folder once, however often it occurs. */
const readFolders = async (context: Context, root: Oid, limits: TreeLimits): Promise<Map<Oid, Folder>> => {
  const folders = new Map<Oid, Folder>();
  let next = new Set([root]);
  while (next.size > 0) {
    const subtrees = new Set<Oid>();
    await forEachConcurrently(next, async (id) => {
      const items = await readFolder(context, id);
      const inside = items.filter(({ mode }) => mode === folderMode).map(({ id }) => id);
      folders.set(id, { files: items.length - inside.length, folders: inside });
      for (const folder of inside) subtrees.add(folder);
    });
    next = new Set([...subtrees].filter((id) => !folders.has(id)));
    if (folders.size + next.size > limits.folders)
      throw new GitError('too_large', 'the tree has too many folders');
    context.signal.throwIfAborted();
  }
  return folders;
};

/** Counts the paths below a tree. @throws GitError `too_large` beyond the limits */
export const countFiles = async (context: Context, root: Oid, limits = usual): Promise<number> => {
  const folders = await readFolders(context, root, limits);
  const counted = new Map<Oid, number>();
  // No recursion: folders may be nested deeper than the call stack. A folder is counted at its second visit.
  const stack = [root];
  for (let id = stack.at(-1); id !== undefined; id = stack.at(-1)) {
    const { files, folders: inside } = folders.get(id) ?? { files: 0, folders: [] };
    const missing = inside.filter((folder) => !counted.has(folder));
    stack.push(...missing);
    if (missing.length > 0) continue;
    stack.pop();
    counted.set(
      id,
      inside.reduce((sum, folder) => sum + 1 + (counted.get(folder) ?? 0), files),
    );
  }
  const total = counted.get(root) ?? 0;
  if (total > limits.files) throw new GitError('too_large', `the tree has more than ${limits.files} paths`);
  return total;
};
