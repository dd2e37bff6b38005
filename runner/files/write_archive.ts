/** Writes files of a job as a stream: a zip, a gzip of each, or one raw file. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type ZipEntry, writeZip } from '../../zip/write_zip.ts';
import type { CollectedFile } from './collect_files.ts';

/** Follows no link and does not block on a pipe. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens the file and checks that it is the collected file. */
const openUnchanged = async (file: string, stats: Stats): Promise<FileHandle> => {
  const handle = await open(file, flags);
  const now = await handle.stat();
  if (now.ino === stats.ino && now.dev === stats.dev && now.isFile()) return handle;
  await handle.close();
  throw new Error('a file was exchanged while it was packed');
};

const readContent = async function* readContent(
  root: string,
  { path, stats }: CollectedFile,
): AsyncGenerator<Buffer> {
  const handle = await openUnchanged(join(root, path), stats);
  try {
    yield* handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>;
  } finally {
    await handle.close();
  }
};

/** Bytes of a file that is compressed in one piece. */
const small = 256 * 1024;

const readWhole = async (root: string, file: CollectedFile): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of readContent(root, file)) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const toZipEntry = async (root: string, file: CollectedFile): Promise<ZipEntry> => {
  const { path, kind, stats } = file;
  const common = { mode: stats.mode & 0o777, modified: stats.mtime };
  if (kind === 'folder') return { ...common, kind: 'directory', name: `${path}/`, content: '' };
  if (kind === 'link')
    return { ...common, kind: 'symlink', name: path, content: await readlink(join(root, path)) };
  if (stats.size <= small)
    return { ...common, kind: 'file', name: path, content: await readWhole(root, file) };
  const content = Readable.from(readContent(root, file), { objectMode: false });
  return { ...common, kind: 'file', name: path, content, size: stats.size };
};

const listEntries = async function* listEntries(
  root: string,
  files: readonly CollectedFile[],
): AsyncGenerator<ZipEntry> {
  for (const file of files) yield await toZipEntry(root, file);
};

export const writeZipTo = async (
  root: string,
  files: readonly CollectedFile[],
  out: Writable,
): Promise<void> => await pipeline(writeZip(listEntries(root, files)), out, { end: false });

/** Writes one gzip member per file, which readers see as one text. */
export const writeGzipTo = async (
  root: string,
  files: readonly CollectedFile[],
  out: Writable,
): Promise<void> => {
  for (const file of files) {
    if (file.kind === 'file') await pipeline(readContent(root, file), createGzip(), out, { end: false });
  }
};

export const writeRawTo = async (
  root: string,
  files: readonly CollectedFile[],
  out: Writable,
): Promise<void> => {
  const file = files.find(({ kind }) => kind === 'file');
  if (file !== undefined) await pipeline(readContent(root, file), out, { end: false });
};
