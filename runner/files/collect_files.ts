/** Finds the files that artifacts and caches name. Follows no links: other files are not the job's to share. */
import { isUtf8 } from 'node:buffer';
import { type Dirent, type Stats, lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { User } from '../executors/run_process.ts';
import { getFixedFolder, matchGlob, matchGlobOrWithin, tidyPath } from './glob.ts';

export type CollectedFile = {
  /** Path below the project's folder. */
  path: string;
  kind: 'file' | 'folder' | 'link';
  stats: Stats;
};

export type FileSelection = {
  paths: readonly string[];
  exclude: readonly string[];
  /** All files not under version control. */
  untracked: boolean;
};

/** Paths that are not UTF-8, decoded lossily: archives and the API require UTF-8. */
type Unnameable = { path: string; kind: 'unnameable' };

export type Collected = {
  files: CollectedFile[];
  perPath: Map<string, number>;
  /** Paths left out because they are not UTF-8. */
  unnameable: string[];
};

const getFileKind = (entry: Dirent<Buffer> | Stats): CollectedFile['kind'] | null => {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : null; // skip sockets and other special files
};

const isRepository = (path: string): boolean => path === '.git' || path.startsWith('.git/');

/** Returns whether the file belongs to the job's user: a hard link could name a file of another user. */
type Within = { root: string; owner: User | null };

const isJobs = ({ owner }: Within, { uid }: Stats): boolean => owner === null || uid === owner.uid;

/** Walks everything below, parents first; a link to a folder counts as a link. */
const walk = async function* walk(within: Within, from: string): AsyncGenerator<CollectedFile | Unnameable> {
  const { root } = within;
  const options = { withFileTypes: true, encoding: 'buffer' } as const;
  const entries = await readdir(join(root, from), options).catch(() => []);
  for (const entry of entries.toSorted((a, b) => Buffer.compare(a.name, b.name))) {
    const path = from === '' ? entry.name.toString() : `${from}/${entry.name.toString()}`;
    if (!isUtf8(entry.name)) {
      yield { path, kind: 'unnameable' };
      continue;
    }
    const kind = getFileKind(entry);
    if (kind === null || isRepository(path)) continue;
    const stats = lstatSync(join(root, path));
    if (!isJobs(within, stats)) continue;
    yield { path, kind, stats };
    if (kind === 'folder') yield* walk(within, path);
  }
};

/** Returns whether the folder is reached only through real folders. */
const isReal = (root: string, path: string): boolean =>
  path.split('/').every((_part, index, parts) => {
    const above = parts.slice(0, index + 1).join('/');
    return lstatSync(join(root, above), { throwIfNoEntry: false })?.isDirectory() === true;
  });

/** Returns where to search for a pattern; a plain path needs no walk. */
const candidates = async function* candidates(
  within: Within,
  pattern: string,
): AsyncGenerator<CollectedFile | Unnameable> {
  const { root } = within;
  const fixed = getFixedFolder(pattern);
  const above = fixed.includes('/') ? fixed.slice(0, fixed.lastIndexOf('/')) : '';
  if (above !== '' && !isReal(root, above)) return;
  const stats = fixed === '' ? undefined : lstatSync(join(root, fixed), { throwIfNoEntry: false });
  if (fixed !== '' && (stats === undefined || !isJobs(within, stats))) return;
  const kind = stats === undefined ? 'folder' : getFileKind(stats);
  if (kind !== null && stats !== undefined) yield { path: fixed, kind, stats };
  if (kind === 'folder') yield* walk(within, fixed);
};

/** Makes a job's path relative to its project's folder; null if it leads outside. */
const belowProject = (path: string, seenProject: string): string | null => {
  if (path === seenProject) return '';
  const below = path.startsWith(`${seenProject}/`) ? path.slice(seenProject.length + 1) : path;
  return below.startsWith('/') ? null : tidyPath(below);
};

export type CollectionRoot = {
  root: string;
  /** The folder's path as the job sees it; paths may begin with it. */
  seen: string;
  /** Owner of the files; null if no other user's files are readable anyhow. */
  owner: User | null;
  tracked: () => Promise<ReadonlySet<string>>;
};

export const collect = async (source: CollectionRoot, selection: FileSelection): Promise<Collected> => {
  const { seen } = source;
  const excluded = selection.exclude
    .map((path) => belowProject(path, seen))
    .filter((path) => path !== null)
    .map(matchGlob);
  const files = new Map<string, CollectedFile>();
  const unnameable = new Set<string>();
  const take = (one: CollectedFile | Unnameable): boolean => {
    if (isRepository(one.path) || excluded.some((matches) => matches(one.path))) return false;
    if (one.kind === 'unnameable') {
      unnameable.add(one.path);
      return false;
    }
    files.set(one.path, one);
    return true;
  };
  const perPath = new Map<string, number>();
  for (const path of selection.paths) {
    const pattern = belowProject(path, seen);
    const matches = pattern === null ? () => false : matchGlobOrWithin(pattern);
    let count = 0;
    for await (const candidate of candidates(source, pattern ?? ''))
      if (matches(candidate.path) && take(candidate)) count += 1;
    perPath.set(path, count);
  }
  if (selection.untracked) {
    const tracked = await source.tracked();
    let count = 0;
    for await (const candidate of walk(source, '')) {
      if (candidate.kind !== 'folder' && !tracked.has(candidate.path) && take(candidate)) count += 1;
    }
    perPath.set('untracked', count);
  }
  const sorted = [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { files: sorted, perPath, unnameable: [...unnameable] };
};
