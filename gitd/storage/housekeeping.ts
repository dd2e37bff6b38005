/**
 * Packs what many small writes have left: reads, clones and walks stay quick. One repository at a time, at the
 * lowest priority.
 */
import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context, MethodHandler, Storage } from '../context.ts';
import { type Argument, flag } from '../exec/arguments.ts';
import type { Command } from '../exec/spawn.ts';
import { requireThere } from '../read/missing.ts';
import { watchRefs } from '../refs/generation.ts';
import { syncFolder } from './durable.ts';
import { tidyRepository } from './janitor.ts';
import { isThere } from './layout.ts';

/** Objects that lie on their own before they are put into a pack. */
const manyLoose = 256;
const manyLooseRefs = 128;
const week = 7 * 24 * 3_600_000;

const namesIn = async (folder: string): Promise<string[]> => await readdir(folder).catch(() => []);

type State = { loose: number; packs: number; packBytes: number; looseRefs: number };

const stateOf = async (dir: string): Promise<State> => {
  const objects = join(dir, 'objects');
  const fanOut = (await namesIn(objects)).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const loose = await Promise.all(fanOut.map(async (name) => (await namesIn(join(objects, name))).length));
  const packs = (await namesIn(join(objects, 'pack'))).filter((name) => name.endsWith('.pack'));
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

/** Below 10 MB two, at 100 MB seven, at 1 GB eleven: the larger, the more a repack costs. */
export const packsAllowed = (bytes: number): number =>
  Math.max(2, Math.floor(Math.log(Math.max(1, bytes / 2 ** 20)) / Math.log(1.8)));

type Place = Pick<Storage, 'exec'> & { dir: string; signal?: AbortSignal };

const runGit = async ({ exec, dir, signal }: Place, command: Command, args: Argument[]): Promise<void> =>
  void (await exec.run({ command, args, dir, slot: 'maintenance', seconds: 3600, signal }));

/** Keeps what nothing refers to for two more weeks, in a pack of its own. */
const repackAll = async (place: Place): Promise<void> => {
  const expiry = flag('--cruft-expiration=2.weeks.ago');
  const index = [flag('--write-midx'), flag('--write-bitmap-index')];
  await runGit(place, 'repack', [flag('-d'), flag('-l'), flag('-q'), flag('--cruft'), expiry, ...index]);
};

const repackSome = async (place: Place): Promise<void> => {
  const index = [flag('--write-midx'), flag('--write-bitmap-index')];
  await runGit(place, 'repack', [flag('-d'), flag('-l'), flag('-q'), flag('--geometric=2'), ...index]);
};

/** Its time is when all objects were last packed anew. */
const stampFile = 'gantry-repacked';

const isFullDue = async (dir: string, now: number): Promise<boolean> => {
  const file = join(dir, stampFile);
  const found = await stat(file).catch(() => null);
  if (found === null) await writeFile(file, ''); // the first week counts from now
  return found !== null && found.mtimeMs < now - week;
};

const stamp = async (dir: string, now: number): Promise<void> => {
  await writeFile(join(dir, stampFile), '');
  await utimes(join(dir, stampFile), now / 1000, now / 1000);
};

/** Does what is due; everything at once where `force` says so. */
export const keepHouse = async (place: Place, now: number, force = false): Promise<void> => {
  const { dir } = place;
  const { loose, packs, packBytes, looseRefs } = await stateOf(dir);
  const isFull = await isFullDue(dir, now);
  const isDue = loose > manyLoose || packs > packsAllowed(packBytes) || isFull || force;
  if (isDue && loose + packs > 0) {
    if (isFull) await repackAll(place);
    else await repackSome(place);
    if (isFull) await stamp(dir, now);
    const graph = [
      flag('write'),
      flag('--reachable'),
      flag('--split'),
      flag('--changed-paths'),
      flag('--no-progress'),
    ];
    await runGit(place, 'commit-graph', graph);
  }
  if (looseRefs > manyLooseRefs || force) {
    await runGit(place, 'pack-refs', [flag('--all')]);
    await syncFolder(dir);
  }
};

export const maintainRepository: MethodHandler<'repository.maintain'> = async (_params, context: Context) => {
  await requireThere(context);
  const removed = await tidyRepository(context.dir, Date.now());
  await keepHouse(context, Date.now(), true);
  return { result: { removed } };
};

const lookEvery = 30_000;
/** Changes of refs after which a repository is looked at. */
const enough = 20;

/** Looks after repositories that were changed. Answers what ends it. */
export const startHousekeeping = (storage: Storage): (() => void) => {
  const changes = new Map<string, number>();
  const unwatch = watchRefs((dir) => void changes.set(dir, (changes.get(dir) ?? 0) + 1));
  let busy = false;
  const look = async (): Promise<void> => {
    const due = [...changes].filter(([, count]) => count >= enough).map(([dir]) => dir);
    for (const dir of due) {
      changes.delete(dir);
      // oxlint-disable-next-line no-await-in-loop -- one at a time
      if (await isThere(dir)) await keepHouse({ exec: storage.exec, dir }, Date.now());
    }
  };
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    look()
      .catch((error: unknown) => storage.log('housekeeping failed', { error: String(error) }))
      .finally(() => void (busy = false));
  }, lookEvery).unref();
  return () => {
    clearInterval(timer);
    unwatch();
  };
};
