import type { Oid, TreeEntry } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../find_code.ts';
import { isPlainPath, stripSlashes } from './paths.ts';

export type FolderRequest = { commit: Oid; path: string; recursive?: boolean; offset: number; limit: number };

/** Lists a page of a folder: folders first, then files, then submodules; null if the commit has no such folder. */
export const listFolder = async (
  { repository }: Pick<Code, 'repository'>,
  { path: requestedPath, recursive = false, ...request }: FolderRequest,
): Promise<{ entries: TreeEntry[]; total: number } | null> => {
  const path = stripSlashes(requestedPath);
  return isPlainPath(path) ? await repository.ask('tree.list', { ...request, path, recursive }) : null;
};
