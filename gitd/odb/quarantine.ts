/**
 * Keeps new objects in a separate folder until they are accepted. git and gitd write there and read the repository's
 * objects, too. A merge with conflicts, or a check, therefore leaves no objects in the repository.
 */
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../disk/make_folder.ts';
import type { Oid } from '../protocol_records.ts';
import { syncFolder } from '../disk/sync_folders.ts';
import { makeObjectWriter, type ObjectWriter } from './loose_object_writer.ts';
import { retryWithFolder } from '../disk/retry_with_folder.ts';
import { forEachConcurrently } from '../for_each_concurrently.ts';

export type Quarantine = {
  /** Folder of the new objects. */
  objects: string;
  /** Variables with which git writes to this folder, and reads it and the repository's objects. */
  env: Record<string, string>;
  /** Writes objects into it; not durable before `keep`. */
  writer: ObjectWriter;
  /** Moves all objects except these into the repository. They are durable when it resolves. */
  keep: (except?: Iterable<Oid>) => Promise<void>;
};

const moveLoose = async (from: string, to: string, except: Set<Oid>): Promise<void> => {
  const folders = (await readdir(from)).filter((name) => /^[0-9a-f]{2}$/u.test(name));
  await forEachConcurrently(folders, async (folder) => {
    const files = (await readdir(join(from, folder))).filter((name) => /^[0-9a-f]{38}$/u.test(name));
    const kept = files.filter((name) => !except.has(folder + name));
    if (kept.length === 0) return;
    await forEachConcurrently(kept, async (name) => {
      const place = join(to, folder);
      await retryWithFolder(place, async () => rename(join(from, folder, name), join(place, name)));
    });
    await syncFolder(join(to, folder));
  });
};

/** Moves packs, the index of each last: git does not see a pack without one. */
const movePacks = async (from: string, to: string): Promise<void> => {
  const names = await readdir(join(from, 'pack')).catch(() => []);
  const ordered = names
    .filter((name) => name.startsWith('pack-'))
    .toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')));
  if (ordered.length === 0) return;
  await makeFolder(join(to, 'pack'));
  for (const name of ordered) await rename(join(from, 'pack', name), join(to, 'pack', name));
  await syncFolder(join(to, 'pack'));
};

/** Quotes a folder for git's path lists, so that it may contain any character. */
export const quotedFolder = (path: string): string => `"${path.replaceAll(/["\\]/gu, '\\$&')}"`;

/** Variables with which git writes to `objects` and reads the repository's objects, too. */
export const quarantineEnvironment = (dir: string, objects: string) => ({
  GIT_OBJECT_DIRECTORY: objects,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedFolder(join(dir, 'objects')),
});

/**
 * Runs `work` with a quarantine and removes what it did not keep.
 * @param dir the repository, which exists
 * @param durable whether objects are synced; false for checks that keep nothing
 */
export const withQuarantine = async <T>(
  dir: string,
  durable: boolean,
  work: (quarantine: Quarantine) => Promise<T>,
): Promise<T> => {
  const home = join(dir, 'objects');
  // Named as git's own: `git prune` removes it after a crash.
  const objects = await mkdtemp(join(home, 'tmp_objdir-gantry-'));
  const quarantine: Quarantine = {
    objects,
    env: quarantineEnvironment(dir, objects),
    writer: makeObjectWriter(objects, durable),
    keep: async (except = []) => {
      if (!durable) throw new Error('these objects were not synced');
      await quarantine.writer.flush();
      await movePacks(objects, home);
      await moveLoose(objects, home, new Set(except));
      await syncFolder(home);
    },
  };
  try {
    return await work(quarantine);
  } finally {
    await rm(objects, { recursive: true, force: true });
  }
};
