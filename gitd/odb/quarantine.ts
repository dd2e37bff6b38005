/**
 * Objects that do not belong to the repository yet: git and we write them into a folder of their own, beside which
 * the repository's can be read. Kept only when all went well, so that a conflict or a check leaves nothing behind.
 */
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Oid } from '../protocol.ts';
import { syncFolder } from '../storage/durable.ts';
import { eachAtOnce, makeObjectWriter, putInFolder, type ObjectWriter } from './loose.ts';

export type Quarantine = {
  /** The folder that new objects go to. */
  objects: string;
  /** What git needs to write there and to read both. */
  env: Record<string, string>;
  /** Writes ours; not durable before `keep`. */
  writer: ObjectWriter;
  /** Moves all objects but these into the repository, where they are durable with the answer. */
  keep: (but?: Iterable<Oid>) => Promise<void>;
};

const moveLoose = async (from: string, to: string, but: Set<Oid>): Promise<void> => {
  const folders = (await readdir(from)).filter((name) => /^[0-9a-f]{2}$/u.test(name));
  await eachAtOnce(folders, async (folder) => {
    const files = (await readdir(join(from, folder))).filter((name) => /^[0-9a-f]{38}$/u.test(name));
    const kept = files.filter((name) => !but.has(folder + name));
    if (kept.length === 0) return;
    await eachAtOnce(kept, async (name) => {
      const place = join(to, folder);
      await putInFolder(place, async () => rename(join(from, folder, name), join(place, name)));
    });
    await syncFolder(join(to, folder));
  });
};

/** The index comes last: a pack without one is not seen. */
const movePacks = async (from: string, to: string): Promise<void> => {
  const names = await readdir(join(from, 'pack')).catch(() => []);
  const ordered = names
    .filter((name) => name.startsWith('pack-'))
    .toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')));
  if (ordered.length === 0) return;
  await mkdir(join(to, 'pack'), { recursive: true });
  // oxlint-disable-next-line no-await-in-loop -- in order
  for (const name of ordered) await rename(join(from, 'pack', name), join(to, 'pack', name));
  await syncFolder(join(to, 'pack'));
};

/** As git reads a list of folders: a quoted one may have any character in it. */
export const quotedFolder = (path: string): string => `"${path.replaceAll(/["\\]/gu, '\\$&')}"`;

/** With it git writes to these objects and reads the repository's, too. */
export const quarantineEnvironment = (dir: string, objects: string) => ({
  GIT_OBJECT_DIRECTORY: objects,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedFolder(join(dir, 'objects')),
});

/**
 * Runs `work` with a quarantine and removes what it did not keep.
 * @param dir the repository, which exists
 * @param durable whether what `keep` keeps was synced file by file: false for checks that keep nothing
 */
export const withQuarantine = async <T>(
  dir: string,
  durable: boolean,
  work: (quarantine: Quarantine) => Promise<T>,
): Promise<T> => {
  const home = join(dir, 'objects');
  // Called as git calls its own: `git prune` removes it, should we not come to it.
  const objects = await mkdtemp(join(home, 'tmp_objdir-gantry-'));
  const quarantine: Quarantine = {
    objects,
    env: quarantineEnvironment(dir, objects),
    writer: makeObjectWriter(objects, durable),
    keep: async (but = []) => {
      if (!durable) throw new Error('these objects were not synced');
      await quarantine.writer.flush();
      await movePacks(objects, home);
      await moveLoose(objects, home, new Set(but));
      await syncFolder(home);
    },
  };
  try {
    return await work(quarantine);
  } finally {
    await rm(objects, { recursive: true, force: true });
  }
};
