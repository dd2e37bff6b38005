/** Reads the directory at the end of an archive and checks all of it before use. */
import {
  type Kind,
  ZipFailure,
  extra64,
  flags,
  kindMask,
  lengths,
  modes,
  max16,
  max32,
  signatures,
} from './format.ts';
import { decodeName } from './safe_names.ts';

/** Random access to the bytes of an archive. */
export type ZipSource = {
  size: number;
  /** Reads exactly `length` bytes, or fails. */
  read: (start: number, length: number) => Promise<Buffer>;
};

export type ZipLimits = {
  entries: number;
  /** Maximum bytes of the central directory. */
  directory: number;
};

export type ZipItem = {
  name: string;
  kind: Kind | 'other';
  /** Permission bits of a Unix mode; 0 if the archive was not written on Unix. */
  mode: number;
  modified: Date;
  method: number;
  isEncrypted: boolean;
  crc: number;
  compressed: number;
  size: number;
  /** Offset of the local header. */
  offset: number;
  /** Offset of the central directory: the content ends before it. */
  before: number;
};

export type ZipDirectory = {
  count: number;
  /** Approximate size in memory, in bytes. */
  weight: number;
  /** Returns the last entry of that name, or null. */
  find: (name: string) => ZipItem | null;
  items: () => Iterable<ZipItem>;
};

const usualLimits: ZipLimits = { entries: 1_000_000, directory: 128 * 1024 * 1024 };

const noZip = (): ZipFailure => new ZipFailure('this is not a zip archive');
const damaged = (): ZipFailure => new ZipFailure('the archive is damaged');

const number64 = (bytes: Buffer, at: number): number => {
  const value = bytes.readBigUInt64LE(at);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged();
  return Number(value);
};

type Place = {
  count: number;
  size: number;
  offset: number;
  /** Offset of the first end-of-directory record. */ end: number;
};

/** Finds the end-of-directory record. Searches backwards, because a comment may follow the record. */
const findEnd = (tail: Buffer): number => {
  for (let at = tail.length - lengths.end; at >= 0; at -= 1) {
    const isEnd =
      tail.readUInt32LE(at) === signatures.end &&
      at + lengths.end + tail.readUInt16LE(at + 20) === tail.length;
    if (isEnd) return at;
  }
  throw noZip();
};

const readPlace64 = async (source: ZipSource, endAt: number): Promise<Place> => {
  const locatorAt = endAt - lengths.locator64;
  if (locatorAt < 0) throw damaged();
  const locator = await source.read(locatorAt, lengths.locator64);
  if (locator.readUInt32LE(0) !== signatures.locator64) throw damaged();
  const end = number64(locator, 8);
  if (end + lengths.end64 > locatorAt) throw damaged();
  const record = await source.read(end, lengths.end64);
  const isOnOneDisk = record.readUInt32LE(16) === 0 && record.readUInt32LE(20) === 0;
  if (record.readUInt32LE(0) !== signatures.end64 || !isOnOneDisk) throw damaged();
  return { count: number64(record, 32), size: number64(record, 40), offset: number64(record, 48), end };
};

const readPlace = async (source: ZipSource): Promise<Place> => {
  const tailLength = Math.min(source.size, lengths.end + max16);
  if (tailLength < lengths.end) throw noZip();
  const tail = await source.read(source.size - tailLength, tailLength);
  const at = findEnd(tail);
  const end = source.size - tailLength + at;
  const count = tail.readUInt16LE(at + 10);
  const [size, offset] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
  if (count === max16 || size === max32 || offset === max32) return await readPlace64(source, end);
  if (tail.readUInt32LE(at + 4) !== 0) throw damaged();
  return { count, size, offset, end };
};

/** Reads the 64-bit values of an entry, in order. They replace the 32-bit fields that hold a placeholder. */
const readWideFields = (extra: Buffer): number[] => {
  for (let at = 0; at + 4 <= extra.length;) {
    const length = extra.readUInt16LE(at + 2);
    if (at + 4 + length > extra.length) throw damaged();
    if (extra.readUInt16LE(at) === extra64) {
      const fields = extra.subarray(at + 4, at + 4 + length);
      return Array.from({ length: Math.floor(length / 8) }, (_one, index) => number64(fields, index * 8));
    }
    at += 4 + length;
  }
  return [];
};

type Sizes = { compressed: number; size: number; offset: number };

const sizesAt = (bytes: Buffer, at: number): Sizes => {
  const [compressed, size, offset] = [20, 24, 42].map((field) => bytes.readUInt32LE(at + field));
  const narrow = { size: size ?? 0, compressed: compressed ?? 0, offset: offset ?? 0 };
  if (Math.max(narrow.size, narrow.compressed, narrow.offset) < max32) return narrow;
  const extraAt = at + lengths.central + bytes.readUInt16LE(at + 28);
  const wide = readWideFields(bytes.subarray(extraAt, extraAt + bytes.readUInt16LE(at + 30)));
  const next = (value: number): number => {
    if (value < max32) return value;
    const wideValue = wide.shift();
    if (wideValue === undefined) throw damaged();
    return wideValue;
  };
  return { size: next(narrow.size), compressed: next(narrow.compressed), offset: next(narrow.offset) };
};

const parseDosDate = (time: number, date: number): Date =>
  new Date(
    Date.UTC(
      1980 + (date >> 9),
      ((date >> 5) & 15) - 1,
      date & 31,
      time >> 11,
      (time >> 5) & 63,
      (time & 31) * 2,
    ),
  );

const unixSystems = new Set([3, 19]);

const getKind = (name: string, mode: number): ZipItem['kind'] => {
  const kind = mode & kindMask;
  if (kind === modes.symlink) return 'symlink';
  if (name.endsWith('/') || kind === modes.directory) return 'directory';
  return kind === 0 || kind === modes.file ? 'file' : 'other';
};

const secret = flags.encrypted | flags.strong | flags.hidden;

const itemAt = (bytes: Buffer, at: number, before: number): ZipItem => {
  const name = decodeName(nameBytes(bytes, at));
  const mode = unixSystems.has(bytes.readUInt8(at + 5)) ? bytes.readUInt16LE(at + 40) : 0;
  return {
    name,
    kind: getKind(name, mode),
    mode: mode & 0o777,
    modified: parseDosDate(bytes.readUInt16LE(at + 12), bytes.readUInt16LE(at + 14)),
    method: bytes.readUInt16LE(at + 10),
    isEncrypted: (bytes.readUInt16LE(at + 8) & secret) !== 0,
    crc: bytes.readUInt32LE(at + 16),
    ...sizesAt(bytes, at),
    before,
  };
};

const nameBytes = (bytes: Buffer, at: number): Buffer =>
  bytes.subarray(at + lengths.central, at + lengths.central + bytes.readUInt16LE(at + 28));

/** Returns the offset of each record in the central directory. */
const findRecords = (bytes: Buffer, count: number): number[] => {
  const places: number[] = [];
  let at = 0;
  while (places.length < count) {
    if (at + lengths.central > bytes.length || bytes.readUInt32LE(at) !== signatures.central) throw damaged();
    places.push(at);
    const more = [28, 30, 32].reduce((sum, field) => sum + bytes.readUInt16LE(at + field), 0);
    at += lengths.central + more;
    if (at > bytes.length) throw damaged();
  }
  return places;
};

/** Rejects overlapping entries: with them, a small archive could expand to any size. */
const refuseOverlaps = (bytes: Buffer, places: readonly number[], before: number): void => {
  const spans = places.map((at) => {
    const { offset, compressed } = sizesAt(bytes, at);
    return { offset, end: offset + lengths.local + bytes.readUInt16LE(at + 28) + compressed };
  });
  spans.sort((one, other) => one.offset - other.offset);
  let free = 0;
  for (const { offset, end } of spans) {
    if (offset < free) throw new ZipFailure('entries of the archive overlap');
    free = end;
  }
  if (free > before) throw damaged();
};

/**
 * Reads and checks the central directory.
 * @throws ZipFailure if it is missing, damaged or over the limits, or if entries overlap
 */
export const openZip = async (source: ZipSource, limits: ZipLimits = usualLimits): Promise<ZipDirectory> => {
  const { count, size, offset, end } = await readPlace(source);
  if (offset + size > end || count * lengths.central > size) throw damaged();
  if (count > limits.entries || size > limits.directory)
    throw new ZipFailure('the archive has too many entries');
  const bytes = await source.read(offset, size);
  const places = findRecords(bytes, count);
  refuseOverlaps(bytes, places, offset);
  const byName = new Map(places.map((at): [string, number] => [decodeName(nameBytes(bytes, at)), at]));
  return {
    count,
    weight: size * 3,
    find: (name) => {
      const at = byName.get(name);
      return at === undefined ? null : itemAt(bytes, at, offset);
    },
    items: function* items() {
      for (const at of places) yield itemAt(bytes, at, offset);
    },
  };
};
