/** The list of what is in an archive, read from its end; nothing that it says is believed before it was checked. */
import {
  type Kind,
  ZipFailure,
  extra64,
  flags,
  kindMask,
  lengths,
  modes,
  most16,
  most32,
  signatures,
} from './format.ts';
import { nameOf } from './names.ts';

/** Where an archive lies. */
export type ZipSource = {
  size: number;
  /** These bytes, all of them. */
  read: (start: number, length: number) => Promise<Buffer>;
};

export type ZipLimits = {
  entries: number;
  /** Bytes of the directory. */
  directory: number;
};

export type ZipItem = {
  name: string;
  kind: Kind | 'other';
  /** The last nine bits of a Unix mode; 0: the writer knew none. */
  mode: number;
  modified: Date;
  method: number;
  isEncrypted: boolean;
  crc: number;
  compressed: number;
  size: number;
  /** Where its own header begins, and before what its bytes end. */
  offset: number;
  before: number;
};

export type ZipDirectory = {
  count: number;
  /** Bytes that it takes to remember it, about. */
  weight: number;
  /** Of several entries of one name the last. */
  find: (name: string) => ZipItem | null;
  items: () => Iterable<ZipItem>;
};

const usualLimits: ZipLimits = { entries: 1_000_000, directory: 128 * 1024 * 1024 };

const noZip = (): ZipFailure => new ZipFailure('this is no zip archive');
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
  /** Where the records of the end begin. */ end: number;
};

/** From the end, for a comment may follow. */
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
  const tailLength = Math.min(source.size, lengths.end + most16);
  if (tailLength < lengths.end) throw noZip();
  const tail = await source.read(source.size - tailLength, tailLength);
  const at = findEnd(tail);
  const end = source.size - tailLength + at;
  const count = tail.readUInt16LE(at + 10);
  const [size, offset] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)];
  if (count === most16 || size === most32 || offset === most32) return await readPlace64(source, end);
  if (tail.readUInt32LE(at + 4) !== 0) throw damaged();
  return { count, size, offset, end };
};

/** The fields of 64 bits that take the place of those that are too narrow, in their order. */
const wideFields = (extra: Buffer): number[] => {
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
  if (Math.max(narrow.size, narrow.compressed, narrow.offset) < most32) return narrow;
  const extraAt = at + lengths.central + bytes.readUInt16LE(at + 28);
  const wide = wideFields(bytes.subarray(extraAt, extraAt + bytes.readUInt16LE(at + 30)));
  const next = (value: number): number => {
    if (value < most32) return value;
    const found = wide.shift();
    if (found === undefined) throw damaged();
    return found;
  };
  return { size: next(narrow.size), compressed: next(narrow.compressed), offset: next(narrow.offset) };
};

const dateOf = (time: number, date: number): Date =>
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

const kindOf = (name: string, mode: number): ZipItem['kind'] => {
  const kind = mode & kindMask;
  if (kind === modes.symlink) return 'symlink';
  if (name.endsWith('/') || kind === modes.directory) return 'directory';
  return kind === 0 || kind === modes.file ? 'file' : 'other';
};

const secret = flags.encrypted | flags.strong | flags.hidden;

const itemAt = (bytes: Buffer, at: number, before: number): ZipItem => {
  const name = nameOf(nameBytes(bytes, at));
  const mode = unixSystems.has(bytes.readUInt8(at + 5)) ? bytes.readUInt16LE(at + 40) : 0;
  return {
    name,
    kind: kindOf(name, mode),
    mode: mode & 0o777,
    modified: dateOf(bytes.readUInt16LE(at + 12), bytes.readUInt16LE(at + 14)),
    method: bytes.readUInt16LE(at + 10),
    isEncrypted: (bytes.readUInt16LE(at + 8) & secret) !== 0,
    crc: bytes.readUInt32LE(at + 16),
    ...sizesAt(bytes, at),
    before,
  };
};

const nameBytes = (bytes: Buffer, at: number): Buffer =>
  bytes.subarray(at + lengths.central, at + lengths.central + bytes.readUInt16LE(at + 28));

/** Where each record begins. */
const recordsOf = (bytes: Buffer, count: number): number[] => {
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

/** Of entries that share their bytes, a small file may make any number of large ones. */
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
 * Reads what is in the archive.
 * @throws ZipFailure for what is none, is damaged, has more in it than the limits allow, or entries that overlap
 */
export const openZip = async (source: ZipSource, limits: ZipLimits = usualLimits): Promise<ZipDirectory> => {
  const { count, size, offset, end } = await readPlace(source);
  if (offset + size > end || count * lengths.central > size) throw damaged();
  if (count > limits.entries || size > limits.directory)
    throw new ZipFailure('the archive has too many entries');
  const bytes = await source.read(offset, size);
  const places = recordsOf(bytes, count);
  refuseOverlaps(bytes, places, offset);
  const byName = new Map(places.map((at): [string, number] => [nameOf(nameBytes(bytes, at)), at]));
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
