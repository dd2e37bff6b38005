/** What lies in a folder of an archive. */
import { ZipFailure } from '../../zip/format.ts';
import type { Platform } from '../access/call.ts';
import { contentOf, directoryOf } from './browse.ts';
import { nothingThere } from './failures.ts';
import type { Artifact } from './store.ts';

/** Names that are told of one folder. */
const most = 1_000;

export type FolderEntry = {
  name: string;
  kind: 'folder' | 'file' | 'other';
  /** Bytes of a file; 0 of all else. */
  size: number;
};

const byName = (one: FolderEntry, other: FolderEntry): number => {
  if ((one.kind === 'folder') !== (other.kind === 'folder')) return one.kind === 'folder' ? -1 : 1;
  return one.name < other.name ? -1 : 1;
};

/**
 * @param path of a folder, `''` for all of it
 * @throws Failure 404 for an archive that is none, and a folder in which nothing is
 */
export const listFolder = async (
  platform: Platform,
  artifact: Artifact,
  path: string,
): Promise<{ entries: FolderEntry[]; total: number }> => {
  if (artifact.file_format !== 'zip') throw nothingThere();
  const prefix = path === '' ? '' : `${path}/`;
  const found = new Map<string, FolderEntry>();
  try {
    const directory = await directoryOf(contentOf(platform, artifact), artifact);
    for (const item of directory.items()) {
      if (!item.name.startsWith(prefix) || item.name === prefix) continue;
      const [name = '', ...below] = item.name.slice(prefix.length).split('/');
      const isFolder = below.length > 0 || item.kind === 'directory';
      if (isFolder) found.set(name, { name, kind: 'folder', size: 0 });
      else if (item.kind === 'file') found.set(name, { name, kind: 'file', size: item.size });
      else found.set(name, { name, kind: 'other', size: 0 });
    }
  } catch (error) {
    if (error instanceof ZipFailure) throw nothingThere();
    throw error;
  }
  if (found.size === 0 && path !== '') throw nothingThere();
  return { entries: [...found.values()].toSorted(byName).slice(0, most), total: found.size };
};
