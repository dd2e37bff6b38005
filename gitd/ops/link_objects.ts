/** All objects of one repository for another, without a copy: files of objects never change, so both may have them. */
import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../failure.ts';
import { eachAtOnce } from '../odb/loose.ts';
import { syncFolder } from '../storage/durable.ts';

const isCode = (error: unknown, ...codes: string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '');

const copyDurably = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const file = await open(to, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Answers false where the file is gone. */
const linkFile = async (from: string, to: string): Promise<boolean> => {
  try {
    await link(from, to);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    // Another file system, one without links, or too many of them.
    if (isCode(error, 'EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP')) await copyDurably(from, to);
    else if (!isCode(error, 'EEXIST')) throw error;
  }
  return true;
};

const namesIn = async (folder: string, pattern: RegExp): Promise<string[]> => {
  try {
    return (await readdir(folder)).filter((name) => pattern.test(name));
  } catch (error) {
    if (isCode(error, 'ENOENT')) return [];
    throw error;
  }
};

/** Answers whether all files that were listed were still there. */
const linkFolder = async (from: string, to: string, names: string[]): Promise<boolean> => {
  if (names.length === 0) return true;
  await mkdir(to, { recursive: true });
  let isWhole = true;
  await eachAtOnce(names, async (name) => {
    isWhole = (await linkFile(join(from, name), join(to, name))) && isWhole;
  });
  await syncFolder(to);
  return isWhole;
};

const packPattern = /^pack-[0-9a-f]{40}\.(?:pack|idx|rev|bitmap|mtimes)$/u;

/** A repack may take a pack away meanwhile, but never before its objects are in another: then all is listed anew. */
const linkPacks = async (from: string, to: string, tries = 5): Promise<void> => {
  const names = await namesIn(from, packPattern);
  const indexes = names.filter((name) => name.endsWith('.idx'));
  const others = names.filter((name) => !name.endsWith('.idx'));
  const isWhole = (await linkFolder(from, to, others)) && (await linkFolder(from, to, indexes));
  if (isWhole) return;
  if (tries === 1) throw new GitError('unavailable', 'the repository is being repacked');
  await linkPacks(from, to, tries - 1);
};

/** It makes walks fast and may be left out: what of it is not there is made anew some day. */
const linkCommitGraph = async (from: string, to: string): Promise<void> => {
  await linkFile(join(from, 'info/commit-graph'), join(to, 'info/commit-graph'));
  const [source, target] = [join(from, 'info/commit-graphs'), join(to, 'info/commit-graphs')];
  const isWhole = await linkFolder(source, target, await namesIn(source, /^graph-[0-9a-f]{40}\.graph$/u));
  if (isWhole) await linkFolder(source, target, await namesIn(source, /^commit-graph-chain$/u));
  await syncFolder(join(to, 'info'));
};

/**
 * Both are folders of objects. What is reachable in the source when this begins is in the target when it ends, and
 * durable.
 */
export const linkObjects = async (from: string, to: string): Promise<void> => {
  await linkCommitGraph(from, to);
  // Loose ones first: housekeeping moves objects into packs, not out of them.
  const fanOut = await namesIn(from, /^[0-9a-f]{2}$/u);
  await eachAtOnce(fanOut, async (folder) => {
    const names = await namesIn(join(from, folder), /^[0-9a-f]{38}$/u);
    await linkFolder(join(from, folder), join(to, folder), names);
  });
  await linkPacks(join(from, 'pack'), join(to, 'pack'));
  await syncFolder(to);
};
