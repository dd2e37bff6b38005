/** The paths of all files of a commit, cached by commit. */
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import type { Code } from '../find_code.ts';
import { listFolder } from './list_folder.ts';

/** Entries of larger repositories beyond these are left out. */
const maxEntries = 20_000;
const maxCachedCharacters = 8 * 1024 * 1024;

const cache = makeLruCache<readonly string[]>(maxCachedCharacters, (paths) =>
  paths.reduce((sum, path) => sum + path.length, 100),
);

/** Lists the paths of the files of a commit, which the caller may read. */
export const listPaths = async (code: Code, commit: Oid): Promise<readonly string[]> => {
  const key = `${code.project.id} ${commit}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const listing = await listFolder(code, { commit, path: '', recursive: true, offset: 0, limit: maxEntries });
  const paths = (listing?.entries ?? []).filter(({ type }) => type === 'blob').map(({ path }) => path);
  cache.set(key, paths);
  return paths;
};

/** Returns a smaller number for a better match; null: the path lacks a word. */
const rank = (path: string, words: readonly string[]): number | null => {
  const folded = path.toLowerCase();
  if (!words.every((word) => folded.includes(word))) return null;
  const name = folded.slice(folded.lastIndexOf('/') + 1);
  const [first = ''] = words;
  if (name === first) return 0;
  if (name.startsWith(first)) return 1;
  return name.includes(first) ? 2 : 3;
};

/** Selects the paths that contain all words of a search, the best matches first, short ones before long ones. */
export const searchPaths = (paths: readonly string[], search: string, limit: number): string[] => {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return [];
  return paths
    .flatMap((path) => {
      const place = rank(path, words);
      return place === null ? [] : [{ path, place }];
    })
    .toSorted((one, other) => one.place - other.place || one.path.length - other.path.length)
    .slice(0, limit)
    .map(({ path }) => path);
};
