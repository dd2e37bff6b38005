/** Reads the files in an archive, in any order. */
import { Readable } from 'node:stream';
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import type { ZipItem, ZipSource } from './read_directory.ts';
import { ZipFailure, flags, lengths, methods, signatures } from './format.ts';
import { decodeName } from './safe_names.ts';

export type ZipContent = ZipSource & {
  /** Streams the bytes from `start` to `end`, both included. */
  stream: (start: number, end: number) => Readable | Promise<Readable>;
};

/** Highest possible compression ratio of deflate. */
const maxRatio = 1032;

const wrong = (item: ZipItem, why: string): ZipFailure =>
  new ZipFailure(`${JSON.stringify(item.name)} ${why}`);

const checkItem = (item: ZipItem, maxBytes: number): void => {
  if (item.kind === 'directory' || item.kind === 'other') throw wrong(item, 'is not a file');
  if (item.isEncrypted) throw wrong(item, 'is encrypted');
  const { method, compressed, size } = item;
  if (method !== methods.store && method !== methods.deflate)
    throw wrong(item, 'uses an unsupported compression method');
  const isPossible = method === methods.store ? compressed === size : size <= compressed * maxRatio;
  if (!isPossible) throw wrong(item, 'has an impossible size');
  if (size > maxBytes) throw wrong(item, 'is too large');
};

/** Returns the offset of an entry's content. Checks that its local header agrees with the directory. */
const findDataStart = async (source: ZipSource, item: ZipItem): Promise<number> => {
  const { offset, before } = item;
  if (offset + lengths.local > before) throw wrong(item, 'is damaged');
  const head = await source.read(offset, lengths.local);
  const nameLength = head.readUInt16LE(26);
  const start = offset + lengths.local + nameLength + head.readUInt16LE(28);
  const isHeader =
    head.readUInt32LE(0) === signatures.local && (head.readUInt16LE(6) & flags.encrypted) === 0;
  if (!isHeader || start + item.compressed > before) throw wrong(item, 'is damaged');
  const name = decodeName(await source.read(offset + lengths.local, nameLength));
  if (name !== item.name || head.readUInt16LE(8) !== item.method)
    throw wrong(item, 'has a local header that differs from the directory');
  return start;
};

const checked = async function* checked(item: ZipItem, plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [size, crc] = [0, 0];
  for await (const chunk of plain) {
    size += chunk.length;
    if (size > item.size) throw wrong(item, 'is larger than its header says');
    crc = crc32(chunk, crc);
    yield chunk;
  }
  if (size !== item.size || crc !== item.crc) throw wrong(item, 'is damaged');
};

/** Decompresses a stream. An error or an early end on one side destroys the other. */
const inflated = async function* inflated(item: ZipItem, packed: Readable): AsyncGenerator<Buffer> {
  const plain = createInflateRaw();
  packed.on('error', (error) => plain.destroy(error));
  try {
    yield* packed.pipe(plain) as AsyncIterable<Buffer>;
  } catch (error) {
    const isOurs = String((error as { code?: unknown }).code).startsWith('Z_');
    throw isOurs ? wrong(item, 'is damaged') : error;
  } finally {
    packed.destroy();
  }
};

/**
 * Streams the content of a file, or the target of a symbolic link. The stream fails if size or checksum differ from
 * the directory.
 * @param maxBytes largest allowed size in bytes
 * @throws ZipFailure
 */
export const readItem = async (source: ZipContent, item: ZipItem, maxBytes: number): Promise<Readable> => {
  checkItem(item, maxBytes);
  const start = await findDataStart(source, item);
  if (item.compressed === 0) {
    if (item.size > 0 || item.crc !== 0) throw wrong(item, 'is damaged');
    return Readable.from([]);
  }
  const packed = await source.stream(start, start + item.compressed - 1);
  const plain = item.method === methods.store ? packed : inflated(item, packed);
  return Readable.from(checked(item, plain), { objectMode: false });
};

/** Reads a small entry into memory, with the same checks as `readItem`. */
export const readItemWhole = async (source: ZipSource, item: ZipItem, maxBytes: number): Promise<Buffer> => {
  checkItem(item, maxBytes);
  const packed = await source.read(await findDataStart(source, item), item.compressed);
  const plain = item.method === methods.store ? packed : inflateWhole(item, packed);
  if (plain.length !== item.size || crc32(plain) !== item.crc) throw wrong(item, 'is damaged');
  return plain;
};

const inflateWhole = (item: ZipItem, packed: Buffer): Buffer => {
  if (item.size === 0) return Buffer.alloc(0);
  try {
    return inflateRawSync(packed, { maxOutputLength: item.size });
  } catch {
    throw wrong(item, 'is damaged');
  }
};
