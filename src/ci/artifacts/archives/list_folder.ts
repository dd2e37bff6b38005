/** Lists a folder of an archive. */
import { ZipFailure } from '../../../../zip/format.ts';
import type { Platform } from '../../../core/platform.ts';
import { readContent, loadDirectory } from './serve_archive_file.ts';
import { notFoundFailure } from '../failures.ts';
import type { Artifact } from '../store/artifacts.ts';

/** Maximum entries listed of one folder. */
const maxEntries = 1_000;

export type FolderEntry = {
  name: string;
  kind: 'folder' | 'file' | 'other';
  /** Bytes of a file; 0 for folders and links. */
  size: number;
};

const byName = (one: FolderEntry, other: FolderEntry): number => {
  if ((one.kind === 'folder') !== (other.kind === 'folder')) return one.kind === 'folder' ? -1 : 1;
  return one.name < other.name ? -1 : 1;
};

/**
 * @param path the folder, `''` for the root
 * @throws Failure 404 for an invalid archive and an empty or missing folder
 */
export const listFolder = async (
  platform: Platform,
  artifact: Artifact,
  path: string,
): Promise<{ entries: FolderEntry[]; total: number }> => {
  if (artifact.file_format !== 'zip') throw notFoundFailure();
  const prefix = path === '' ? '' : `${path}/`;
  const children = new Map<string, FolderEntry>();
  try {
    const directory = await loadDirectory(readContent(platform, artifact), artifact);
    for (const item of directory.items()) {
      if (!item.name.startsWith(prefix) || item.name === prefix) continue;
      const [name = '', ...below] = item.name.slice(prefix.length).split('/');
      const isFolder = below.length > 0 || item.kind === 'directory';
      if (isFolder) children.set(name, { name, kind: 'folder', size: 0 });
      else if (item.kind === 'file') children.set(name, { name, kind: 'file', size: item.size });
      else children.set(name, { name, kind: 'other', size: 0 });
    }
  } catch (error) {
    if (error instanceof ZipFailure) throw notFoundFailure();
    throw error;
  }
  if (children.size === 0 && path !== '') throw notFoundFailure();
  return { entries: [...children.values()].toSorted(byName).slice(0, maxEntries), total: children.size };
};
