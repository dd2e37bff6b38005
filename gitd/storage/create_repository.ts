import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../disk/make_folder.ts';
import type { MethodHandler, Storage } from '../handler_types.ts';
import { noRepository } from '../git_error.ts';
import { requireMarker } from './claim_storage.ts';
import { syncFolder } from '../disk/sync_folders.ts';
import { repositoryExists, getConstructionFolder } from '../disk/storage_paths.ts';

const folders = ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'];
/** In the order of syncing: each folder after its contents. */
const foldersToSync = ['objects/info', 'objects/pack', 'objects', 'refs/heads', 'refs/tags', 'refs', ''];

/** The files of an empty repository, as git writes them without its samples. */
const files = {
  HEAD: 'ref: refs/heads/main\n',
  config: '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n',
};

const writeSynced = async (file: string, text: string): Promise<void> => {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Creates an empty repository in a folder, which need not exist. */
export const fillRepository = async (dir: string): Promise<void> => {
  await Promise.all(folders.map(async (folder) => await makeFolder(join(dir, folder))));
  await Promise.all(
    Object.entries(files).map(async ([name, text]) => await writeSynced(join(dir, name), text)),
  );
  await Promise.all(foldersToSync.map(async (folder) => await syncFolder(join(dir, folder))));
};

/** Creates a folder and its parents below `root`, each synced. */
const makeSyncedFolders = async (root: string, folder: string): Promise<void> => {
  const first = await makeFolder(folder);
  if (first === undefined) return;
  for (let at = dirname(folder); at.length >= root.length; at = dirname(at)) {
    await syncFolder(at);
  }
};

/**
 * Lets `make` fill a folder and moves it to the repository's place, whole or not at all.
 * @returns false if a repository was there already
 * @throws GitError `unavailable` if the storage is gone
 */
export const putInPlace = async (
  { root }: Pick<Storage, 'root'>,
  dir: string,
  make: (dir: string) => Promise<void>,
): Promise<boolean> => {
  await requireMarker(root);
  const made = join(getConstructionFolder(root), `${randomBytes(8).toString('hex')}.git`);
  await makeFolder(dirname(made));
  try {
    await make(made);
    await makeSyncedFolders(root, dirname(dir));
    await rename(made, dir);
    await syncFolder(dirname(dir));
    return true;
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
};

const underWay = new Map<string, Promise<boolean>>();

/**
 * Creates the repository if it does not exist, before its first write. Returns whether it did.
 * @throws GitError `no_repository` if it was written to before; it is not created again
 */
export const ensureRepository = async (
  context: Pick<Storage, 'root'> & { dir: string; written?: boolean },
): Promise<boolean> => {
  const { dir } = context;
  if (await repositoryExists(dir)) return false;
  if (context.written === true) throw noRepository();
  const creation = underWay.get(dir);
  if (creation !== undefined) {
    await creation;
    return false;
  }
  const made = putInPlace(context, dir, fillRepository);
  underWay.set(dir, made);
  try {
    return await made;
  } finally {
    underWay.delete(dir);
  }
};

export const createRepository: MethodHandler<'repository.create'> = async (_params, context) => ({
  result: { created: await ensureRepository(context) },
});
