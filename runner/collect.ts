/** Finds the files that artifacts and caches name. No link is followed: what lies elsewhere is not the job's to give. */
import { isUtf8 } from 'node:buffer';
import { type Dirent, type Stats, lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { User } from './executors/run.ts';
import { fixedPart, matchGlob, matchGlobOrWithin, tidyPath } from './glob.ts';

export type Found = {
  /** Below the project's folder. */
  path: string;
  kind: 'file' | 'folder' | 'link';
  stats: Stats;
};

export type Wanted = {
  paths: readonly string[];
  exclude: readonly string[];
  /** All that is not under version control. */
  untracked: boolean;
};

/** A name that is not UTF-8, shown as well as it can be: archives and the API have no other. */
type Unnameable = { path: string; kind: 'unnameable' };

export type Collected = {
  found: Found[];
  perPath: Map<string, number>;
  /** Paths that are left out because their names are not UTF-8. */
  unnameable: string[];
};

const kindOf = (entry: Dirent<Buffer> | Stats): Found['kind'] | null => {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : null; // sockets and the like stay
};

const isRepository = (path: string): boolean => path === '.git' || path.startsWith('.git/');

/** What is looked at: not what somebody else's is, which a job may have given a name of its own here. */
type Within = { root: string; owner: User | null };

const isJobs = ({ owner }: Within, { uid }: Stats): boolean => owner === null || uid === owner.uid;

/** Everything below, parents first; a folder that is a link counts as the link alone. */
async function* walk(within: Within, from: string): AsyncGenerator<Found | Unnameable> {
  const { root } = within;
  const options = { withFileTypes: true, encoding: 'buffer' } as const;
  const entries = await readdir(join(root, from), options).catch(() => []);
  for (const entry of entries.toSorted((a, b) => Buffer.compare(a.name, b.name))) {
    const path = from === '' ? entry.name.toString() : `${from}/${entry.name.toString()}`;
    if (!isUtf8(entry.name)) {
      yield { path, kind: 'unnameable' };
      continue;
    }
    const kind = kindOf(entry);
    if (kind === null || isRepository(path)) continue;
    const stats = lstatSync(join(root, path));
    if (!isJobs(within, stats)) continue;
    yield { path, kind, stats };
    if (kind === 'folder') yield* walk(within, path);
  }
}

/** The folder itself lies in the project by real folders alone. */
const isReal = (root: string, path: string): boolean =>
  path.split('/').every((_part, index, parts) => {
    const above = parts.slice(0, index + 1).join('/');
    return lstatSync(join(root, above), { throwIfNoEntry: false })?.isDirectory() === true;
  });

/** Where to look for what a pattern matches: what stands for itself needs no look at the rest. */
async function* candidates(within: Within, pattern: string): AsyncGenerator<Found | Unnameable> {
  const { root } = within;
  const fixed = fixedPart(pattern);
  const above = fixed.includes('/') ? fixed.slice(0, fixed.lastIndexOf('/')) : '';
  if (above !== '' && !isReal(root, above)) return;
  const stats = fixed === '' ? undefined : lstatSync(join(root, fixed), { throwIfNoEntry: false });
  if (fixed !== '' && (stats === undefined || !isJobs(within, stats))) return;
  const kind = stats === undefined ? 'folder' : kindOf(stats);
  if (kind !== null && stats !== undefined) yield { path: fixed, kind, stats };
  if (kind === 'folder') yield* walk(within, fixed);
}

/** A path of a job, as one below its project's folder; null: it leads out of it. */
const belowProject = (path: string, seenProject: string): string | null => {
  if (path === seenProject) return '';
  const below = path.startsWith(`${seenProject}/`) ? path.slice(seenProject.length + 1) : path;
  return below.startsWith('/') ? null : tidyPath(below);
};

export type Place = {
  root: string;
  /** The same folder as the job knows it: paths may begin with it. */
  seen: string;
  /** Whose files they are; null: nobody else's can be read anyhow. */
  owner: User | null;
  tracked: () => Promise<ReadonlySet<string>>;
};

export const collect = async (place: Place, wanted: Wanted): Promise<Collected> => {
  const { seen } = place;
  const excluded = wanted.exclude
    .map((path) => belowProject(path, seen))
    .filter((path) => path !== null)
    .map(matchGlob);
  const found = new Map<string, Found>();
  const unnameable = new Set<string>();
  const take = (one: Found | Unnameable): boolean => {
    if (isRepository(one.path) || excluded.some((matches) => matches(one.path))) return false;
    if (one.kind === 'unnameable') {
      unnameable.add(one.path);
      return false;
    }
    found.set(one.path, one);
    return true;
  };
  const perPath = new Map<string, number>();
  for (const path of wanted.paths) {
    const pattern = belowProject(path, seen);
    const matches = pattern === null ? () => false : matchGlobOrWithin(pattern);
    let count = 0;
    // oxlint-disable-next-line no-await-in-loop -- one after another
    for await (const one of candidates(place, pattern ?? '')) if (matches(one.path) && take(one)) count += 1;
    perPath.set(path, count);
  }
  if (wanted.untracked) {
    const tracked = await place.tracked();
    let count = 0;
    for await (const one of walk(place, '')) {
      if (one.kind !== 'folder' && !tracked.has(one.path) && take(one)) count += 1;
    }
    perPath.set('untracked', count);
  }
  const sorted = [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { found: sorted, perPath, unnameable: [...unnameable] };
};
