/** Hard-links all objects of a repository into another one: object files never change, so both may share them. */
import { constants } from 'node:fs';
import { copyFile, link, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../disk/make_folder.ts';
import { GitError, hasCode } from '../git_error.ts';
import { forEachConcurrently } from '../for_each_concurrently.ts';
import { syncFolder } from '../disk/sync_folders.ts';

const copyDurably = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const file = await open(to, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Links a file; false if it is gone. */
const linkFile = async (from: string, to: string): Promise<boolean> => {
  try {
    await link(from, to);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    // Another file system, one without hard links, or too many links.
    if (hasCode(error, 'EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP')) await copyDurably(from, to);
    else if (!hasCode(error, 'EEXIST')) throw error;
  }
  return true;
};

const namesIn = async (folder: string, pattern: RegExp): Promise<string[]> => {
  try {
    return (await readdir(folder)).filter((name) => pattern.test(name));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
};

/** Links the listed files; false if one was gone. */
const linkFolder = async (from: string, to: string, names: string[]): Promise<boolean> => {
  if (names.length === 0) return true;
  await makeFolder(to);
  let isWhole = true;
  await forEachConcurrently(names, async (name) => {
    isWhole = (await linkFile(join(from, name), join(to, name))) && isWhole;
  });
  await syncFolder(to);
  return isWhole;
};

const packPattern = /^pack-[0-9a-f]{40}\.(?:pack|idx|rev|bitmap|mtimes)$/u;

/**
 * Links all packs. A repack may remove a pack meanwhile, after writing its objects to another: then the packs are
 * listed again.
 */
const linkPacks = async (from: string, to: string, tries = 5): Promise<void> => {
  const names = await namesIn(from, packPattern);
  const indexes = names.filter((name) => name.endsWith('.idx'));
  const others = names.filter((name) => !name.endsWith('.idx'));
  const isWhole = (await linkFolder(from, to, others)) && (await linkFolder(from, to, indexes));
  if (isWhole) return;
  if (tries === 1) throw new GitError('unavailable', 'the repository is being repacked');
  await linkPacks(from, to, tries - 1);
};

/** Links the commit graph, which speeds up walks. It may be incomplete: housekeeping writes it again. */
const linkCommitGraph = async (from: string, to: string): Promise<void> => {
  await linkFile(join(from, 'info/commit-graph'), join(to, 'info/commit-graph'));
  const [source, target] = [join(from, 'info/commit-graphs'), join(to, 'info/commit-graphs')];
  const isWhole = await linkFolder(source, target, await namesIn(source, /^graph-[0-9a-f]{40}\.graph$/u));
  if (isWhole) await linkFolder(source, target, await namesIn(source, /^commit-graph-chain$/u));
  await syncFolder(join(to, 'info'));
};

/**
 * Links all objects from one `objects` folder to another. What was reachable in the source at the start is durable in
 * the target at the end.
 */
export const linkObjects = async (from: string, to: string): Promise<void> => {
  await linkCommitGraph(from, to);
  // Loose objects first: housekeeping moves objects into packs, not out of them.
  const fanOut = await namesIn(from, /^[0-9a-f]{2}$/u);
  await forEachConcurrently(fanOut, async (folder) => {
    const names = await namesIn(join(from, folder), /^[0-9a-f]{38}$/u);
    await linkFolder(join(from, folder), join(to, folder), names);
  });
  await linkPacks(join(from, 'pack'), join(to, 'pack'));
  await syncFolder(to);
};
