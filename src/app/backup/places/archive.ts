/**
 * A folder of backups as one file: a tar of plain files, compressed by zstd. Only names that a backup has are read, so
 * that no entry of a tampered archive is a link or leads out of the folder.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { syncFolder } from '../../../platform/blob/file_system.ts';
import { StartFailure } from '../../../platform/errors.ts';

const blockSize = 512;
const allowedName =
  /^(?:gantry-instance|backups\/[0-9TZ]+-[0-9a-f]{8}\.json|objects\/[0-9a-f]{2}\/[0-9a-f]{64})$/;
/** The largest size in octal digits; larger sizes are binary. */
const maxOctalSize = 8 ** 11;

const writeSize = (header: Buffer, size: number): void => {
  if (size < maxOctalSize) {
    header.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
    return;
  }
  header[124] = 0x80;
  header.writeBigUInt64BE(BigInt(size), 128);
};

const sumHeader = (header: Buffer): number => {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  return sum;
};

const makeHeader = (name: string, size: number): Buffer => {
  const header = Buffer.alloc(blockSize);
  header.write(name, 0, 'latin1');
  header.write('0000600\x000000000\x000000000\x00', 100, 'latin1');
  writeSize(header, size);
  header.write('00000000000\0', 136, 'latin1');
  header.write('0', 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  header.write(`${sumHeader(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
};

const padding = (size: number): Buffer => Buffer.alloc((blockSize - (size % blockSize)) % blockSize);

const listFiles = async (root: string): Promise<string[]> => {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((name) => allowedName.test(name))
    .toSorted(
      (one, other) =>
        Number(one.startsWith('backups/')) - Number(other.startsWith('backups/')) || (one < other ? -1 : 1),
    );
};

const writeEntries = async function* writeEntries(root: string): AsyncGenerator<Buffer> {
  for (const name of await listFiles(root)) {
    const { size } = await stat(join(root, name));
    yield makeHeader(name, size);
    let written = 0;
    for await (const chunk of createReadStream(join(root, name)) as AsyncIterable<Buffer>) {
      written += chunk.length;
      yield chunk;
    }
    if (written !== size) throw new Error(`${name} changed while it was archived`);
    yield padding(size);
  }
  yield Buffer.alloc(2 * blockSize);
};

/** Writes a folder of backups to a file, which gets its name when it is whole and on disk. */
export const packFolder = async (root: string, file: string): Promise<void> => {
  const draft = `${file}.draft`;
  await rm(draft, { force: true });
  await pipeline(
    Readable.from(writeEntries(root)),
    createZstdCompress(),
    createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }),
  );
  await rename(draft, file);
  await syncFolder(dirname(file));
};

type Entry = { name: string; size: number };

const damaged = (why: string): StartFailure => new StartFailure(`the archive cannot be read: ${why}`);

/** Parses a header; null: the end of the archive. */
const parseHeader = (header: Buffer): Entry | null => {
  if (header.every((byte) => byte === 0)) return null;
  const text = (from: number, to: number): string =>
    header.toString('latin1', from, to).replace(/\0.*$/s, '').trim();
  if (Number.parseInt(text(148, 156), 8) !== sumHeader(header)) throw damaged('a checksum is wrong');
  const [name, type] = [text(0, 100), text(156, 157)];
  if (!allowedName.test(name) || text(345, 500) !== '' || !['', '0'].includes(type))
    throw damaged(`it has the entry ${JSON.stringify(name)}, which no backup has`);
  const isBinary = header[124] === 0x80;
  const size = isBinary ? Number(header.readBigUInt64BE(128)) : Number.parseInt(text(124, 136), 8);
  if (!Number.isSafeInteger(size)) throw damaged('a size is wrong');
  return { name, size };
};

/** Reads exact numbers of bytes from a stream of chunks. */
const makeTaker = (source: AsyncIterable<Buffer>) => {
  const chunks = source[Symbol.asyncIterator]();
  let unread = Buffer.alloc(0) as Buffer;
  /** Returns at most `most` bytes, at least one. */
  const some = async (most: number): Promise<Buffer> => {
    while (unread.length === 0) {
      const { value, done } = await chunks.next();
      if (done === true) throw damaged('it ends early');
      unread = value;
    }
    const taken = unread.subarray(0, most);
    unread = unread.subarray(taken.length);
    return taken;
  };
  const exactly = async (count: number): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for (let left = count; left > 0;) {
      const part = await some(left);
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  };
  return { some, exactly };
};

type Taker = ReturnType<typeof makeTaker>;

const writeEntry = async ({ some, exactly }: Taker, handle: FileHandle, size: number): Promise<void> => {
  for (let left = size; left > 0;) {
    const part = await some(left);
    await handle.write(part);
    left -= part.length;
  }
  await exactly(padding(size).length);
};

/** Extracts an archive into a folder that does not exist yet. @throws StartFailure for anything unusual in it */
export const extractArchive = async (file: string, root: string): Promise<void> => {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const input = createReadStream(file);
  const source = createZstdDecompress();
  const piped = pipeline(input, source).catch((error: unknown) => void source.destroy(error as Error));
  const taker = makeTaker(source as AsyncIterable<Buffer>);
  try {
    for (;;) {
      const entry = parseHeader(await taker.exactly(blockSize));
      if (entry === null) break;
      const path = join(root, entry.name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await using handle = await open(path, 'wx', 0o600);
      await writeEntry(taker, handle, entry.size);
    }
  } catch (error) {
    throw error instanceof StartFailure ? error : damaged((error as Error).message);
  } finally {
    input.destroy();
    source.destroy();
    await piped;
  }
};
