import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { MethodHandler, Storage } from '../context.ts';
import { noRepository } from '../failure.ts';
import { requireMarker } from './claim.ts';
import { syncFolder } from './durable.ts';
import { isThere, makingFolder } from './layout.ts';

const folders = ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'];
/** Each is synced after what it holds. */
const foldersToSync = ['objects/info', 'objects/pack', 'objects', 'refs/heads', 'refs/tags', 'refs', ''];

/** What git itself writes into an empty one, without its samples. */
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

/** Makes an empty repository in a folder that need not exist. */
export const fill = async (dir: string): Promise<void> => {
  await Promise.all(folders.map(async (folder) => await mkdir(join(dir, folder), { recursive: true })));
  await Promise.all(
    Object.entries(files).map(async ([name, text]) => await writeSynced(join(dir, name), text)),
  );
  await Promise.all(foldersToSync.map(async (folder) => await syncFolder(join(dir, folder))));
};

/** Makes a folder and those above it below `root`, each durable in the one above. */
const makeFolders = async (root: string, folder: string): Promise<void> => {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let at = dirname(folder); at.length >= root.length; at = dirname(at)) {
    // oxlint-disable-next-line no-await-in-loop -- from the inside out
    await syncFolder(at);
  }
};

/**
 * Puts what `make` has filled in the repository's place: whole, or not at all.
 * @returns false where one was there already
 * @throws GitError `unavailable` where the storage went away
 */
export const putInPlace = async (
  { root }: Pick<Storage, 'root'>,
  dir: string,
  make: (dir: string) => Promise<void>,
): Promise<boolean> => {
  await requireMarker(root);
  const made = join(makingFolder(root), `${randomBytes(8).toString('hex')}.git`);
  await mkdir(dirname(made), { recursive: true });
  try {
    await make(made);
    await makeFolders(root, dirname(dir));
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
 * Makes an empty repository where none is: every first write begins so. Answers whether it did.
 * @throws GitError `no_repository` for one that was written to before, and is not created again
 */
export const ensureRepository = async (
  context: Pick<Storage, 'root'> & { dir: string; written?: boolean },
): Promise<boolean> => {
  const { dir } = context;
  if (await isThere(dir)) return false;
  if (context.written === true) throw noRepository();
  const other = underWay.get(dir);
  if (other !== undefined) {
    await other;
    return false;
  }
  const made = putInPlace(context, dir, fill);
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
