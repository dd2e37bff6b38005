/** The README and the license in the root of the default branch: their names, and their addresses in JSON. */
import type { Call } from '../../../core/access/call.ts';
import { hasFeature } from '../../../core/access/visible.ts';
import { GitFailure } from '../../../platform/git/failure.ts';
import type { TreeEntry } from '../../../platform/git/protocol_types.ts';
import { makeLruCache } from '../../../platform/lru_cache.ts';
import type { ProjectRow } from '../rows.ts';

/** Entries of a large root in which files are looked for. */
const maxEntries = 2_000;

const readmeNames = /^readme(?:\.(?:md|markdown|mdown|txt|rst|adoc|asciidoc|org))?$/i;
const licenseNames = /^(?:un)?licen[cs]e(?:[-.].{1,20})?$|^copying(?:\..{1,10})?$/i;

/** Returns whether a file is Markdown, by its name. */
const isMarkdownName = (name: string): boolean => /\.(?:md|markdown|mdown)$/i.test(name);

/** Finds a file by its name: Markdown first, then in the order of the folder. */
const findFile = (entries: readonly TreeEntry[], pattern: RegExp): TreeEntry | undefined =>
  entries
    .filter(({ type, mode, name }) => type === 'blob' && mode !== '120000' && pattern.test(name))
    .toSorted((one, other) => Number(isMarkdownName(other.name)) - Number(isMarkdownName(one.name)))[0];

export const findReadme = (entries: readonly TreeEntry[]): TreeEntry | undefined =>
  findFile(entries, readmeNames);

export const findLicense = (entries: readonly TreeEntry[]): TreeEntry | undefined =>
  findFile(entries, licenseNames);

type RootPaths = { readme: string | null; license: string | null };

/** Keyed by repository and commit. */
const cache = makeLruCache<RootPaths>(10_000, () => 1);

const loadPaths = async ({ platform }: Call, row: ProjectRow): Promise<RootPaths | null> => {
  const repository = platform.git.repository(row);
  const { refs } = await repository.ask('refs.get', { names: [`refs/heads/${row.default_branch}`] });
  const commit = refs[0]?.commit ?? null;
  if (commit === null) return null;
  const key = `${row.repository_storage} ${row.repository_path ?? row.id} ${commit}`;
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const root = { commit, path: '', recursive: false, offset: 0, limit: maxEntries };
  const { entries = [] } = (await repository.ask('tree.list', root)) ?? {};
  const paths = { readme: findReadme(entries)?.path ?? null, license: findLicense(entries)?.path ?? null };
  cache.set(key, paths);
  return paths;
};

/**
 * Loads the addresses of the pages of a project's README and license; null if it has none, the viewer may not read
 * the code, or the storage does not answer. Only for single projects: it asks the storage.
 */
export const loadRootLinks = async (
  call: Call,
  row: ProjectRow,
): Promise<{ readme_url: string | null; license_url: string | null }> => {
  const none = { readme_url: null, license_url: null };
  if (row.default_branch === null || !hasFeature(call.viewer, row, 'repository_access_level')) return none;
  const encode = (path: string): string => path.split('/').map(encodeURIComponent).join('/');
  const blobs = `${call.baseUrl}/${row.full_path}/-/blob/${encode(row.default_branch)}`;
  try {
    const paths = await loadPaths(call, row);
    const link = (path: string | null = null) => (path === null ? null : `${blobs}/${encode(path)}`);
    return { readme_url: link(paths?.readme), license_url: link(paths?.license) };
  } catch (error) {
    if (error instanceof GitFailure) return none;
    throw error;
  }
};
