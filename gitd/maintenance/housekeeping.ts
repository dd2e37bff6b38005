/**
 * Packs loose objects and refs, so that reads, clones and walks stay fast. One repository at a time, at the lowest
 * priority.
 */
import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context, MethodHandler, Storage } from '../handler_types.ts';
import { type Argument, flag } from '../exec/arguments.ts';
import type { Command } from '../exec/spawn.ts';
import { requireRepository } from '../storage/require_repository.ts';
import { watchRefs } from '../refs/ref_generation.ts';
import { syncFolder } from '../disk/sync_folders.ts';
import { tidyRepository } from '../storage/janitor.ts';
import { repositoryExists } from '../disk/storage_paths.ts';
import { listNames } from '../disk/list_names.ts';

/** Loose objects before a repack is due. */
const manyLoose = 256;
const manyLooseRefs = 128;
const weekMilliseconds = 7 * 24 * 3_600_000;

type State = { loose: number; packs: number; packBytes: number; looseRefs: number };

const readState = async (dir: string): Promise<State> => {
  const objects = join(dir, 'objects');
  const fanOut = (await listNames(objects)).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const loose = await Promise.all(fanOut.map(async (name) => (await listNames(join(objects, name))).length));
  const packs = (await listNames(join(objects, 'pack'))).filter((name) => name.endsWith('.pack'));
  const sizes = await Promise.all(
    packs.map(async (name) => (await stat(join(objects, 'pack', name)).catch(() => null))?.size ?? 0),
  );
  const refs = await readdir(join(dir, 'refs'), { recursive: true, withFileTypes: true }).catch(() => []);
  return {
    loose: loose.reduce((sum, one) => sum + one, 0),
    packs: packs.length,
    packBytes: sizes.reduce((sum, one) => sum + one, 0),
    looseRefs: refs.filter((entry) => entry.isFile()).length,
  };
};

/**
 * Packs allowed before a repack is due: two below 10 MB, seven at 100 MB, eleven at 1 GB. Larger repositories cost
 * more to repack.
 */
export const packsAllowed = (bytes: number): number =>
  Math.max(2, Math.floor(Math.log(Math.max(1, bytes / 2 ** 20)) / Math.log(1.8)));

type RepositoryFolder = Pick<Storage, 'exec'> & { dir: string; signal?: AbortSignal };

const runGit = async (
  { exec, dir, signal }: RepositoryFolder,
  command: Command,
  args: Argument[],
): Promise<void> => void (await exec.run({ command, args, dir, slot: 'maintenance', seconds: 3600, signal }));

/** Repacks everything. Unreachable objects stay for two weeks in a cruft pack. */
const repackAll = async (folder: RepositoryFolder): Promise<void> => {
  const expiry = flag('--cruft-expiration=2.weeks.ago');
  const index = [flag('--write-midx'), flag('--write-bitmap-index')];
  await runGit(folder, 'repack', [flag('-d'), flag('-l'), flag('-q'), flag('--cruft'), expiry, ...index]);
};

const repackSome = async (folder: RepositoryFolder): Promise<void> => {
  const index = [flag('--write-midx'), flag('--write-bitmap-index')];
  await runGit(folder, 'repack', [flag('-d'), flag('-l'), flag('-q'), flag('--geometric=2'), ...index]);
};

/** Its modification time is the time of the last full repack. */
const stampFile = 'gantry-repacked';

const isFullDue = async (dir: string, now: number): Promise<boolean> => {
  const file = join(dir, stampFile);
  const stats = await stat(file).catch(() => null);
  if (stats === null) await writeFile(file, ''); // the first week counts from now
  return stats !== null && stats.mtimeMs < now - weekMilliseconds;
};

const stamp = async (dir: string, now: number): Promise<void> => {
  await writeFile(join(dir, stampFile), '');
  await utimes(join(dir, stampFile), now / 1000, now / 1000);
};

/** Runs the maintenance that is due, or all of it if `force`. */
export const runHousekeeping = async (
  folder: RepositoryFolder,
  now: number,
  force = false,
): Promise<void> => {
  const { dir } = folder;
  const { loose, packs, packBytes, looseRefs } = await readState(dir);
  const isFull = await isFullDue(dir, now);
  const isDue = loose > manyLoose || packs > packsAllowed(packBytes) || isFull || force;
  if (isDue && loose + packs > 0) {
    if (isFull) await repackAll(folder);
    else await repackSome(folder);
    if (isFull) await stamp(dir, now);
    const graph = [
      flag('write'),
      flag('--reachable'),
      flag('--split'),
      flag('--changed-paths'),
      flag('--no-progress'),
    ];
    await runGit(folder, 'commit-graph', graph);
  }
  if (looseRefs > manyLooseRefs || force) {
    await runGit(folder, 'pack-refs', [flag('--all')]);
    await syncFolder(dir);
  }
};

export const maintainRepository: MethodHandler<'repository.maintain'> = async (_params, context: Context) => {
  await requireRepository(context);
  const removed = await tidyRepository(context.dir, Date.now());
  await runHousekeeping(context, Date.now(), true);
  return { result: { removed } };
};

const checkInterval = 30_000;
/** Ref changes after which a repository is checked. */
const changesPerMaintenance = 20;
/** Maximum repositories whose changes are counted. */
const maxCountedRepositories = 20_000;

/** Counts a change. Beyond `maxRepositories`, drops the least recently changed repository. */
export const countChange = (changes: Map<string, number>, dir: string, maxRepositories: number): void => {
  const count = changes.get(dir) ?? 0;
  changes.delete(dir);
  changes.set(dir, count + 1);
  const [oldest] = changes.keys();
  if (changes.size > maxRepositories && oldest !== undefined) changes.delete(oldest);
};

/** Starts maintenance of changed repositories. Returns a function that stops it. */
export const startHousekeeping = (storage: Storage): (() => void) => {
  const changes = new Map<string, number>();
  const unwatch = watchRefs((dir) => countChange(changes, dir, maxCountedRepositories));
  let busy = false;
  const maintainDue = async (): Promise<void> => {
    const due = [...changes].filter(([, count]) => count >= changesPerMaintenance).map(([dir]) => dir);
    for (const dir of due) {
      changes.delete(dir);
      if (await repositoryExists(dir)) await runHousekeeping({ exec: storage.exec, dir }, Date.now());
    }
  };
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    maintainDue()
      .catch((error: unknown) => storage.log('housekeeping failed', { error: String(error) }))
      .finally(() => void (busy = false));
  }, checkInterval).unref();
  return () => {
    clearInterval(timer);
    unwatch();
  };
};
