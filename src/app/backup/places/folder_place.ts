/**
 * Backups in a folder, which belongs to one instance. Its files are readable only by their owner, because they contain
 * secrets.
 */
import { constants, existsSync } from 'node:fs';
import { chown, mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openBlobs, readFiles } from '../../../platform/blob/blob_files.ts';
import { isMissing, syncFolder } from '../../../platform/blob/file_system.ts';
import { StartFailure } from '../../../platform/errors.ts';
import { forEachConcurrently } from '../../../platform/for_each_concurrently.ts';
import { readMarker, writeMarker } from '../../../platform/git/instance_marker.ts';
import type { StoredObject } from '../manifest.ts';
import { type BackupPlace, type BackupReader, objectArea } from './backup_place.ts';

const namesIn = async (folder: string): Promise<string[]> =>
  await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });

/** Gives what root creates to the owner of the place, whose service must read it. */
const giveToOwner = async (root: string, path: string): Promise<void> => {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(root);
  await chown(path, uid, gid);
};

const writeText = async (root: string, path: string, text: string): Promise<void> => {
  const file = join(root, path);
  const created = await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  if (created !== undefined) await giveToOwner(root, dirname(file));
  const draft = `${file}.draft`;
  const handle = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await giveToOwner(root, draft);
  await rename(draft, file);
  await syncFolder(dirname(file));
};

export const openFolderReader = async (root: string): Promise<BackupReader> => {
  if ((await readMarker(root)) === null) throw new StartFailure(`${root} is not a backup folder`);
  return {
    label: root,
    blobs: readFiles(root),
    listTexts: async (folder) => await namesIn(join(root, folder)),
    writeText: async (path, text) => await writeText(root, path, text),
    readText: async (path) =>
      await readFile(join(root, path), 'utf8').catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      }),
  };
};

/** Files whose sizes are read at once. */
const abreast = 16;

const listObjects = async function* listObjects(root: string): AsyncGenerator<StoredObject> {
  for (const part of await namesIn(join(root, objectArea))) {
    const folder = join(root, objectArea, part);
    const objects: StoredObject[] = [];
    await forEachConcurrently(await namesIn(folder), abreast, async (sha256) => {
      objects.push({ sha256, size: (await stat(join(folder, sha256))).size });
    });
    yield* objects;
  }
};

/**
 * Opens a folder for a backup of an instance, and creates it if needed.
 * @throws StartFailure if it has backups of another instance, or other files
 */
export const openFolderPlace = async (root: string, instance: string): Promise<BackupPlace> => {
  const owner = existsSync(root) ? await readMarker(root) : null;
  if (owner !== null && owner !== instance)
    throw new StartFailure(`${root} has backups of another instance (${owner}): name another folder`);
  if (owner === null && (await namesIn(root)).length > 0)
    throw new StartFailure(`${root} has other files: name an empty folder`);
  if (owner === null) await writeMarker(root, instance);
  return {
    ...(await openFolderReader(root)),
    blobs: await openBlobs(root),
    writeText: async (path, text) => await writeText(root, path, text),
    removeText: async (path) => {
      await rm(join(root, path), { force: true });
      await syncFolder(dirname(join(root, path)));
    },
    listObjects: () => listObjects(root),
  };
};
