/** Reads the `.gitattributes` of folders. */
import type { MethodHandler } from '../handler_types.ts';
import { GitError } from '../git_error.ts';
import { executableMode, fileMode } from '../odb/raw_tree.ts';
import type { AttributesFile } from '../protocol_records.ts';
import { findEntry } from './list_tree.ts';

const maxFolders = 1_000;

/**
 * Reads the files of these folders, up to the limits; folders without one, and files that are larger, are left out.
 * Folders are read through a cache, and no process is started.
 */
export const readAttributes: MethodHandler<'tree.attributes'> = async (params, context) => {
  const { commit, folders, max_files, max_bytes } = params;
  if (folders.length > maxFolders) throw new GitError('invalid', 'too many folders');
  const { pools, dir, signal } = context;
  const files: AttributesFile[] = [];
  const bodies: Buffer[] = [];
  let offset = 0;
  let read = 0;
  for (const folder of folders) {
    signal.throwIfAborted();
    if (files.length >= max_files) break;
    read += 1;
    const entry = await findEntry(
      context,
      commit,
      folder === '' ? '.gitattributes' : `${folder}/.gitattributes`,
    );
    if (entry === null || (entry.mode !== fileMode && entry.mode !== executableMode)) continue;
    const info = await pools.catFile.info(dir, entry.id);
    if (info?.type !== 'blob' || info.size > max_bytes) continue;
    const data = (await pools.catFile.contents(dir, entry.id, max_bytes))?.data ?? Buffer.alloc(0);
    files.push({ folder, id: entry.id, content: { offset, length: data.length } });
    bodies.push(data);
    offset += data.length;
  }
  return { result: { files, read }, body: Buffer.concat(bodies) };
};
