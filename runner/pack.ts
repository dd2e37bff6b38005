/** Files of a job as one stream: a zip, a gzip of each, or one as it is. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type ZipEntry, writeZip } from '../zip/write.ts';
import type { Found } from './collect.ts';

/** Not through a link, and not waiting for whoever would write to a pipe. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The very file that was found. */
const openFound = async (file: string, stats: Stats): Promise<FileHandle> => {
  const handle = await open(file, flags);
  const now = await handle.stat();
  if (now.ino === stats.ino && now.dev === stats.dev && now.isFile()) return handle;
  await handle.close();
  throw new Error('a file was exchanged while it was packed');
};

async function* contentOf(root: string, { path, stats }: Found): AsyncGenerator<Buffer> {
  const handle = await openFound(join(root, path), stats);
  try {
    yield* handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>;
  } finally {
    await handle.close();
  }
}

/** Bytes of a file that is packed in one go. */
const small = 256 * 1024;

const readWhole = async (root: string, found: Found): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of contentOf(root, found)) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const entryOf = async (root: string, found: Found): Promise<ZipEntry> => {
  const { path, kind, stats } = found;
  const common = { mode: stats.mode & 0o777, modified: stats.mtime };
  if (kind === 'folder') return { ...common, kind: 'directory', name: `${path}/`, content: '' };
  if (kind === 'link')
    return { ...common, kind: 'symlink', name: path, content: await readlink(join(root, path)) };
  if (stats.size <= small)
    return { ...common, kind: 'file', name: path, content: await readWhole(root, found) };
  const content = Readable.from(contentOf(root, found), { objectMode: false });
  return { ...common, kind: 'file', name: path, content, size: stats.size };
};

async function* entriesOf(root: string, found: readonly Found[]): AsyncGenerator<ZipEntry> {
  // oxlint-disable-next-line no-await-in-loop -- one entry after another
  for (const one of found) yield await entryOf(root, one);
}

export const writeZipTo = async (root: string, found: readonly Found[], out: Writable): Promise<void> =>
  await pipeline(writeZip(entriesOf(root, found)), out, { end: false });

/** As many members as there are files: who reads them sees one text. */
export const writeGzipTo = async (root: string, found: readonly Found[], out: Writable): Promise<void> => {
  for (const one of found) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    if (one.kind === 'file') await pipeline(contentOf(root, one), createGzip(), out, { end: false });
  }
};

export const writeRawTo = async (root: string, found: readonly Found[], out: Writable): Promise<void> => {
  const file = found.find(({ kind }) => kind === 'file');
  if (file !== undefined) await pipeline(contentOf(root, file), out, { end: false });
};
