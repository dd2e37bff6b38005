/** Extracts an archive into a folder and never writes outside it. */
import { createWriteStream } from 'node:fs';
import { chmod, lchown, lstat, mkdir, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type ZipItem, openZip } from './read_directory.ts';
import { openZipFile } from './open_file.ts';
import { ZipFailure } from './format.ts';
import { isSafeName } from './safe_names.ts';
import { type ZipContent, readItem, readItemWhole } from './read_items.ts';

export type ExtractLimits = { entries: number; /** Most bytes of all files together. */ total: number };

/** Owner of the extracted files; null: the current user. */
export type Owner = { uid: number; gid: number } | null;

const give = async (owner: Owner, path: string): Promise<void> => {
  if (owner !== null) await lchown(path, owner.uid, owner.gid);
};

const usualLimits: ExtractLimits = { entries: 1_000_000, total: 64 * 2 ** 30 };

/** Largest file that is read into memory, in bytes. */
const small = 1024 * 1024;
const maxLinkBytes = 4096;

/** Checks the name, kind and total size of all items. Runs before the first file is written. */
const checkItems = (items: readonly ZipItem[], { total }: ExtractLimits): void => {
  let bytes = 0;
  for (const { name, kind, size } of items) {
    if (!isSafeName(name)) throw new ZipFailure(`${JSON.stringify(name)} would leave the folder`);
    if (kind === 'other')
      throw new ZipFailure(`${JSON.stringify(name)} is not a file, folder or symbolic link`);
    bytes += size;
  }
  if (bytes > total) throw new ZipFailure('the files of the archive are too large in total');
};

/** Returns a function that creates a folder and its parents. It rejects existing links that lead outside the root. */
const makeFolderCreator = (root: string, owner: Owner) => {
  const made = new Set<string>();
  return async (folder: string): Promise<void> => {
    if (made.has(folder)) return;
    // Outermost folder first: a link is detected before anything is created behind it.
    const steps = folder === root ? [] : folder.slice(root.length + 1).split(sep);
    let at = root;
    for (const step of steps) {
      at = join(at, step);
      if (!made.has(at)) await makeFolder(root, at, owner);
      made.add(at);
    }
  };
};

const makeFolder = async (root: string, folder: string, owner: Owner): Promise<void> => {
  try {
    await mkdir(folder);
    await give(owner, folder);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
    const [real, stats] = [await realpath(folder), await lstat(folder)];
    const isInside = real === root || real.startsWith(root + sep);
    if (!isInside)
      throw new ZipFailure(`${JSON.stringify(folder.slice(root.length + 1))} leads out of the folder`);
    if (!stats.isDirectory() && !stats.isSymbolicLink())
      throw new ZipFailure('a file exists where a folder must be created');
  }
};

type Place = { path: string; owner: Owner };

const writeItem = async (source: ZipContent, item: ZipItem, { path, owner }: Place): Promise<void> => {
  // Writing to an existing link would change its target.
  await rm(path, { force: true });
  const mode = item.mode === 0 ? 0o644 : item.mode;
  if (item.size <= small) await writeFile(path, await readItemWhole(source, item, small), { flag: 'wx' });
  else {
    const content = await readItem(source, item, item.size);
    await pipeline(content, createWriteStream(path, { flags: 'wx' }));
  }
  await give(owner, path);
  await chmod(path, mode);
  await utimes(path, item.modified, item.modified);
};

const writeLink = async (source: ZipContent, item: ZipItem, { path, owner }: Place): Promise<void> => {
  const target = (await readItemWhole(source, item, maxLinkBytes)).toString();
  if (target === '' || target.includes('\0'))
    throw new ZipFailure(`${JSON.stringify(item.name)} is a symbolic link without a target`);
  await rm(path, { force: true });
  await symlink(target, path);
  await give(owner, path);
};

const extractAll = async (
  source: ZipContent,
  items: readonly ZipItem[],
  { path: root, owner }: Place,
): Promise<void> => {
  const makeFolders = makeFolderCreator(root, owner);
  const resolvePath = ({ name }: ZipItem): string => join(root, name.replace(/\/$/, ''));
  const of = (kind: ZipItem['kind']): ZipItem[] => items.filter((item) => item.kind === kind);
  for (const item of of('directory')) await makeFolders(resolvePath(item));
  for (const item of of('file')) {
    await makeFolders(dirname(resolvePath(item)));
    await writeItem(source, item, { path: resolvePath(item), owner });
  }
  // Links come last, so that no file is written through one. The reader of a link must check its target.
  for (const item of of('symlink')) {
    await makeFolders(dirname(resolvePath(item)));
    await writeLink(source, item, { path: resolvePath(item), owner });
  }
};

/**
 * Extracts an archive into an existing folder. Existing files of the same name are replaced.
 * @throws ZipFailure if the archive is damaged, hostile or over the limits
 */
export const extractZip = async (
  archive: string,
  folder: string,
  { limits = usualLimits, owner = null }: { limits?: ExtractLimits; owner?: Owner } = {},
): Promise<void> => {
  const root = await realpath(folder);
  const source = await openZipFile(archive);
  try {
    const { entries } = limits;
    const items = [...(await openZip(source, { entries, directory: entries * 256 })).items()];
    checkItems(items, limits);
    await extractAll(source, items, { path: root, owner });
  } finally {
    await source.close();
  }
};
