/** Puts what is in an archive into a folder, and nothing anywhere else. */
import { createWriteStream } from 'node:fs';
import { chmod, lchown, lstat, mkdir, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type ZipItem, openZip } from './directory.ts';
import { openZipFile } from './file.ts';
import { ZipFailure } from './format.ts';
import { isSafeName } from './names.ts';
import { type ZipContent, readItem, readItemWhole } from './read.ts';

export type ExtractLimits = { entries: number; /** Bytes of all files together. */ total: number };

/** Whom what is extracted belongs to; null: whoever extracts. */
export type Owner = { uid: number; gid: number } | null;

const give = async (owner: Owner, path: string): Promise<void> => {
  if (owner !== null) await lchown(path, owner.uid, owner.gid);
};

const usualLimits: ExtractLimits = { entries: 1_000_000, total: 64 * 2 ** 30 };

/** Bytes up to which a file is read whole. */
const small = 1024 * 1024;
const longestLink = 4096;

/** All of it is looked at before the first file is written. */
const refuse = (items: readonly ZipItem[], { total }: ExtractLimits): void => {
  let bytes = 0;
  for (const { name, kind, size } of items) {
    if (!isSafeName(name)) throw new ZipFailure(`${JSON.stringify(name)} would leave the folder`);
    if (kind === 'other') throw new ZipFailure(`${JSON.stringify(name)} is no file`);
    bytes += size;
  }
  if (bytes > total) throw new ZipFailure('the archive has too much in it');
};

/** Makes folders, and sees that none leads out by a link that was there before. */
const folderMaker = (root: string, owner: Owner) => {
  const made = new Set<string>();
  return async (folder: string): Promise<void> => {
    if (made.has(folder)) return;
    // From the outside in: a link is seen before anything is made behind it.
    const steps = folder === root ? [] : folder.slice(root.length + 1).split(sep);
    let at = root;
    for (const step of steps) {
      at = join(at, step);
      // oxlint-disable-next-line no-await-in-loop -- one within the other
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
      throw new ZipFailure('a file stands where a folder is to be');
  }
};

type Place = { path: string; owner: Owner };

const writeItem = async (source: ZipContent, item: ZipItem, { path, owner }: Place): Promise<void> => {
  // A link that stands there would be followed.
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
  const target = (await readItemWhole(source, item, longestLink)).toString();
  if (target === '' || target.includes('\0'))
    throw new ZipFailure(`${JSON.stringify(item.name)} leads nowhere`);
  await rm(path, { force: true });
  await symlink(target, path);
  await give(owner, path);
};

const extractAll = async (
  source: ZipContent,
  items: readonly ZipItem[],
  { path: root, owner }: Place,
): Promise<void> => {
  const makeFolders = folderMaker(root, owner);
  const pathOf = ({ name }: ZipItem): string => join(root, name.replace(/\/$/, ''));
  const of = (kind: ZipItem['kind']): ZipItem[] => items.filter((item) => item.kind === kind);
  // oxlint-disable no-await-in-loop -- one after another: the disk is one
  for (const item of of('directory')) await makeFolders(pathOf(item));
  for (const item of of('file')) {
    await makeFolders(dirname(pathOf(item)));
    await writeItem(source, item, { path: pathOf(item), owner });
  }
  // Last, so that nothing is written through one of them. Where they lead is for their readers to mind.
  for (const item of of('symlink')) {
    await makeFolders(dirname(pathOf(item)));
    await writeLink(source, item, { path: pathOf(item), owner });
  }
  // oxlint-enable no-await-in-loop
};

/**
 * Extracts an archive into a folder that is there. What is there of the same names is replaced.
 * @throws ZipFailure for one that is damaged or means harm
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
    refuse(items, limits);
    await extractAll(source, items, { path: root, owner });
  } finally {
    await source.close();
  }
};
