/** The paths of all files of a commit, cached by commit. */
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import type { Code } from '../find_code.ts';
import { listFolder } from './list_folder.ts';
import { rankPaths, toWords } from './rank_path.ts';

/** Entries of larger repositories beyond these are left out. */
const maxEntries = 20_000;
const maxCachedCharacters = 8 * 1024 * 1024;

const cache = makeLruCache<readonly string[]>(maxCachedCharacters, (paths) =>
  paths.reduce((sum, path) => sum + path.length, 100),
);

/** Lists the paths of the files of a commit, which the caller may read. */
export const listPaths = async (code: Code, commit: Oid): Promise<readonly string[]> => {
  const key = `${code.repository.path} ${commit}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const listing = await listFolder(code, { commit, path: '', recursive: true, offset: 0, limit: maxEntries });
  const paths = (listing?.entries ?? []).filter(({ type }) => type === 'blob').map(({ path }) => path);
  cache.set(key, paths);
  return paths;
};

/** Selects the paths that match all words of a search, the best matches first. */
export const searchPaths = (paths: readonly string[], search: string, limit: number): string[] => {
  const words = toWords(search);
  return words.length === 0 ? [] : rankPaths(paths, words, (path) => path).items.slice(0, limit);
};
