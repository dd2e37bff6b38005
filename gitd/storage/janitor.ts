/** Removes files that killed processes left behind. */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Storage } from '../handler_types.ts';
import { removeStaleLocks } from './stale_locks.ts';
import { getDeletedFolder, getConstructionFolder } from '../disk/storage_paths.ts';
import { listNames } from '../disk/list_names.ts';

const hourMilliseconds = 3_600_000;
const dayMilliseconds = 24 * hourMilliseconds;

const isOlder = async (path: string, age: number, now: number): Promise<boolean> => {
  const stats = await stat(path).catch(() => null);
  return stats !== null && stats.mtimeMs < now - age;
};

const removeOld = async (folder: string, pattern: RegExp, age: number, now: number): Promise<string[]> => {
  const names = (await listNames(folder)).filter((name) => pattern.test(name));
  const old = await Promise.all(names.map(async (name) => await isOlder(join(folder, name), age, now)));
  const removed = names.filter((_name, index) => old[index]);
  await Promise.all(
    removed.map(async (name) => await rm(join(folder, name), { recursive: true, force: true })),
  );
  return removed;
};

/** Removes stale locks and aborted pushes of one repository. Returns the removed files. */
export const tidyRepository = async (dir: string, now: number): Promise<string[]> => {
  const [locks, quarantines, packs] = await Promise.all([
    removeStaleLocks(dir, now),
    removeOld(join(dir, 'objects'), /^tmp_objdir-|^quarantine-|^tmp_obj_|^incoming-/, dayMilliseconds, now),
    removeOld(join(dir, 'objects/pack'), /^tmp_|^\.tmp-/, dayMilliseconds, now),
  ]);
  return [
    ...locks,
    ...quarantines.map((name) => join('objects', name)),
    ...packs.map((name) => join('objects/pack', name)),
  ];
};

/** Yields the folders of all repositories. */
const listRepositories = async function* listRepositories(root: string): AsyncGenerator<string> {
  const hashed = join(root, '@hashed');
  for (const first of await listNames(hashed)) {
    const folders = (await listNames(join(hashed, first))).map((second) => join(hashed, first, second));
    const names = await Promise.all(folders.map(namesAt));
    yield* names.flat().filter((path) => path.endsWith('.git'));
  }
};

const namesAt = async (folder: string): Promise<string[]> =>
  (await listNames(folder)).map((name) => join(folder, name));

/** Tidies the whole storage. Returns the number of removed files. */
export const tidyStorage = async (
  { root, log }: Pick<Storage, 'root' | 'log'>,
  now: number,
): Promise<number> => {
  let removed = 0;
  // Everything in this folder is to be deleted.
  removed += (await removeOld(getDeletedFolder(root), /./, 0, now)).length;
  removed += (await removeOld(getConstructionFolder(root), /./, hourMilliseconds, now)).length;
  for await (const dir of listRepositories(root)) {
    const files = await tidyRepository(dir, now);
    if (files.length > 0) log('left-over files were removed', { dir, files });
    removed += files.length;
  }
  return removed;
};

/** Tidies a minute after the start and every hour. Returns a function that stops it. */
export const startJanitor = (storage: Pick<Storage, 'root' | 'log'>): (() => void) => {
  const tidy = (): void =>
    void tidyStorage(storage, Date.now()).catch((error: unknown) =>
      storage.log('the janitor failed', { error: String(error) }),
    );
  const first = setTimeout(tidy, 60_000).unref();
  const hourly = setInterval(tidy, hourMilliseconds).unref();
  return () => {
    clearTimeout(first);
    clearInterval(hourly);
  };
};
