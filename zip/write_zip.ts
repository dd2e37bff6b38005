/** Writes an archive as a stream. Only its directory is kept in memory. */
import { Readable } from 'node:stream';
import { constants, crc32, createDeflateRaw, deflateRawSync } from 'node:zlib';
import {
  type Kind,
  extra64,
  flags,
  lengths,
  methods,
  modes,
  max16,
  max32,
  signatures,
  unix,
} from './format.ts';

export type ZipEntry = {
  /** Path with `/` as separator; a directory ends with `/`. */
  name: string;
  kind: Kind;
  /** Permission bits of a Unix mode, as `0o755`. */
  mode: number;
  modified: Date;
  /** Content of a file, target of a symbolic link, or empty for a directory. Large files come as a stream. */
  content: Buffer | string | Readable;
  /** Expected size of a stream in bytes. Required from 4 GiB on. */
  size?: number;
};

/** Contents below this size, in bytes, are stored uncompressed. */
const tiny = 64;
const level = constants.Z_DEFAULT_COMPRESSION;
/** Size of one output chunk in bytes. */
const piece = 64 * 1024;
/** Streams of at least this size get 64-bit fields. Below 4 GiB, because compression may enlarge the data. */
const nearly4GiB = 0xf0000000;

type Written = {
  name: Buffer;
  kind: Kind;
  mode: number;
  time: number;
  method: number;
  flags: number;
  crc: number;
  compressed: number;
  size: number;
  offset: number;
  /** Sizes are written as 64-bit fields. */
  isLarge: boolean;
};

const field16 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(2);
  bytes.writeUInt16LE(value);
  return bytes;
};
const field32 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const field64 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};

/** Formats a time as MS-DOS date and time in UTC. Years are limited to 1980 to 2107. */
const toDosTime = (modified: Date): number => {
  const year = modified.getUTCFullYear();
  if (Number.isNaN(year) || year < 1980) return 0x00210000;
  if (year > 2107) return 0xff9fbf7d;
  const date = ((year - 1980) << 9) | ((modified.getUTCMonth() + 1) << 5) | modified.getUTCDate();
  const time =
    (modified.getUTCHours() << 11) | (modified.getUTCMinutes() << 5) | (modified.getUTCSeconds() >> 1);
  return date * 0x10000 + time;
};

const getVersion = ({ isLarge }: Written): number => (isLarge ? 45 : 20);

/** Builds the fields that the local header and the directory record share. */
const common = (entry: Written, isDescribedLater: boolean): Buffer => {
  const bytes = Buffer.alloc(26);
  bytes.writeUInt16LE(getVersion(entry), 0);
  bytes.writeUInt16LE(entry.flags, 2);
  bytes.writeUInt16LE(entry.method, 4);
  bytes.writeUInt32LE(entry.time, 6);
  if (!isDescribedLater) {
    bytes.writeUInt32LE(entry.crc, 10);
    bytes.writeUInt32LE(entry.isLarge ? max32 : entry.compressed, 14);
    bytes.writeUInt32LE(entry.isLarge ? max32 : entry.size, 18);
  } else if (entry.isLarge) bytes.fill(0xff, 14, 22);
  bytes.writeUInt16LE(entry.name.length, 22);
  return bytes;
};

const localHeader = (entry: Written, isDescribedLater: boolean): Buffer => {
  const head = common(entry, isDescribedLater);
  const sizes = entry.isLarge
    ? Buffer.concat([field16(extra64), field16(16), field64(entry.size), field64(entry.compressed)])
    : Buffer.alloc(0);
  head.writeUInt16LE(sizes.length, 24);
  return Buffer.concat([field32(signatures.local), head, entry.name, sizes]);
};

const descriptor = ({ crc, compressed, size, isLarge }: Written): Buffer => {
  const width = isLarge ? field64 : field32;
  return Buffer.concat([field32(signatures.descriptor), field32(crc), width(compressed), width(size)]);
};

const centralRecord = (entry: Written): Buffer => {
  const isFar = entry.offset >= max32;
  const values = [...(entry.isLarge ? [entry.size, entry.compressed] : []), ...(isFar ? [entry.offset] : [])];
  const wide =
    values.length === 0 ? [] : [field16(extra64), field16(values.length * 8), ...values.map(field64)];
  const extra = Buffer.concat(wide);
  const head = common(entry, false);
  if (isFar) head.writeUInt16LE(45, 0);
  head.writeUInt16LE(extra.length, 24);
  const attributes = Buffer.alloc(14);
  const isDirectory = entry.kind === 'directory' ? 0x10 : 0;
  attributes.writeUInt32LE((((modes[entry.kind] | entry.mode) << 16) | isDirectory) >>> 0, 6);
  attributes.writeUInt32LE(isFar ? max32 : entry.offset, 10);
  return Buffer.concat([
    field32(signatures.central),
    field16((unix << 8) | 45),
    head,
    attributes,
    entry.name,
    extra,
  ]);
};

const end = (count: number, size: number, offset: number): Buffer => {
  const isWide = count >= max16 || size >= max32 || offset >= max32;
  const wide = [
    field32(signatures.end64),
    field64(lengths.end64 - 12),
    field16((unix << 8) | 45),
    field16(45),
    Buffer.alloc(8),
    ...[count, count, size, offset].map(field64),
    field32(signatures.locator64),
    field32(0),
    field64(offset + size),
    field32(1),
  ];
  const few = field16(Math.min(count, max16));
  const last = [field32(signatures.end), Buffer.alloc(4), few, few];
  const place = [Math.min(size, max32), Math.min(offset, max32)].map(field32);
  return Buffer.concat([...(isWide ? wide : []), ...last, ...place, Buffer.alloc(2)]);
};

const begin = ({ name, kind, mode, modified }: ZipEntry, offset: number): Written => ({
  name: Buffer.from(name),
  kind,
  mode: mode & 0o7777,
  time: toDosTime(modified),
  method: methods.store,
  flags: flags.utf8,
  crc: 0,
  compressed: 0,
  size: 0,
  offset,
  isLarge: false,
});

/** Builds the header and content of an entry that is in memory. */
const buildWhole = (entry: Written, content: Buffer): Buffer[] => {
  const packed =
    content.length < tiny || entry.kind !== 'file' ? content : deflateRawSync(content, { level });
  const isSmaller = packed.length < content.length;
  const bytes = isSmaller ? packed : content;
  entry.method = isSmaller ? methods.deflate : methods.store;
  entry.crc = crc32(content);
  entry.size = content.length;
  entry.compressed = bytes.length;
  return [localHeader(entry, false), bytes];
};

const streamed = async function* streamed(
  entry: Written,
  content: Readable,
  expected: number,
): AsyncGenerator<Buffer> {
  entry.method = methods.deflate;
  entry.flags |= flags.descriptor;
  entry.isLarge = expected >= nearly4GiB;
  yield localHeader(entry, true);
  const packer = createDeflateRaw({ level, chunkSize: piece });
  const measured = async function* measured(): AsyncGenerator<Buffer> {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      entry.crc = crc32(chunk, entry.crc);
      entry.size += chunk.length;
      yield chunk;
    }
  };
  const source = Readable.from(measured(), { objectMode: false });
  source.on('error', (error) => packer.destroy(error));
  try {
    for await (const chunk of source.pipe(packer) as AsyncIterable<Buffer>) {
      entry.compressed += chunk.length;
      yield chunk;
    }
  } finally {
    source.destroy();
    content.destroy();
  }
  if (!entry.isLarge && Math.max(entry.size, entry.compressed) >= max32) {
    throw new Error('a stream of 4 GiB or more needs a size');
  }
  yield descriptor(entry);
};

const writeEntries = async function* writeEntries(
  entries: AsyncIterable<ZipEntry> | Iterable<ZipEntry>,
): AsyncGenerator<Buffer> {
  const records: Buffer[] = [];
  let offset = 0;
  for await (const input of entries) {
    const entry = begin(input, offset);
    const { content } = input;
    const parts =
      content instanceof Readable
        ? streamed(entry, content, input.size ?? 0)
        : buildWhole(entry, typeof content === 'string' ? Buffer.from(content) : content);
    for await (const part of parts) {
      offset += part.length;
      yield part;
    }
    records.push(centralRecord(entry));
  }
  const size = records.reduce((sum, record) => sum + record.length, 0);
  yield* records;
  yield end(records.length, size, offset);
};

/** Joins small parts into chunks of at least `piece` bytes. */
const inPieces = async function* inPieces(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const part of parts) {
    waiting.push(part);
    bytes += part.length;
    if (bytes < piece) continue;
    yield Buffer.concat(waiting);
    [waiting, bytes] = [[], 0];
  }
  yield Buffer.concat(waiting);
};

/** Streams an archive of the entries, in order. An entry is requested only when the reader has reached it. */
export const writeZip = (entries: AsyncIterable<ZipEntry> | Iterable<ZipEntry>): Readable =>
  Readable.from(inPieces(writeEntries(entries)), { objectMode: false });
