/**
 * Bytes by their digest, as files. An area is a part of the store whose bytes go together, such as a project's: the
 * same bytes are kept once in each.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, openSync } from 'node:fs';
import { access, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { damaged, unavailable } from '../errors.ts';
import { readMarker } from '../git/marker.ts';
import { isMissing, syncFolder } from './folders.ts';

export type Stored = { size: number; /** Hexadecimal. */ sha256: string };

/** First and last byte. */
export type Range = { start: number; end: number };

/** Told of bytes that have come whole; they are where others find them once `place` has ended, if it is called. */
export type Placing = (stored: Stored, place: () => Promise<void>) => Promise<void>;

export const placeAtOnce: Placing = async (_stored, place) => await place();

export type Blobs = {
  /**
   * Keeps what the stream gives; on disk, with its name, before this answers. Nothing is left of what breaks off, nor
   * of what was given no place.
   */
  put: (area: string, content: Readable, placing?: Placing) => Promise<Stored>;
  has: (area: string, sha256: string) => Promise<boolean>;
  /**
   * Reads bytes, or a part of them; null where there are none.
   * @param size as it was recorded; without it, any is taken
   * @throws Failure 503 where what lies there has another size
   */
  get: (area: string, sha256: string, range?: Range, size?: number) => Promise<Readable | null>;
  /** Where whoever has it may read them for a while, as a file to be saved; null: nowhere but here. */
  link: (area: string, sha256: string, fileName: string) => Promise<string | null>;
  /** None to remove is none removed. */
  remove: (area: string, sha256: string) => Promise<void>;
  removeArea: (area: string) => Promise<void>;
};

/** Area of all that belongs to a project. */
export const projectArea = (id: number): string => `projects/${id}`;

/** The folder and those between it and the root, from the inside out. */
const foldersUpTo = (root: string, folder: string): string[] => {
  const steps = relative(root, folder).split(sep);
  return steps.map((_step, at) => join(root, ...steps.slice(0, steps.length - at))).concat(root);
};

const write = async (file: string, content: Readable): Promise<Stored> => {
  const digest = createHash('sha256');
  let size = 0;
  // Open before anything can break off: a stream that opens by itself may do so after the file was removed.
  const fd = openSync(file, 'wx', 0o600);
  await pipeline(
    content,
    async function* measure(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        digest.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    },
    createWriteStream(file, { fd, flush: true }),
  );
  return { size, sha256: digest.digest('hex') };
};

/** Whether the store itself is there, and not only the place where it is mounted. @throws Failure 503 */
const requireMarker = async (root: string): Promise<void> => {
  if ((await readMarker(root)) === null) throw unavailable();
};

/** @throws Failure 503 where the folder went away */
const writeIn = async (root: string, file: string, content: Readable): Promise<Stored> => {
  try {
    return await write(file, content);
  } catch (error) {
    if (isMissing(error)) await requireMarker(root);
    throw error;
  }
};

/** Gives a file its place, so that a power cut does not take it. */
const place = async (root: string, from: string, to: string): Promise<void> => {
  const folder = dirname(to);
  const created = await mkdir(folder, { recursive: true, mode: 0o700 });
  await rename(from, to);
  const folders = created === undefined ? [folder] : foldersUpTo(root, folder);
  for (const one of folders) await syncFolder(one); // oxlint-disable-line no-await-in-loop -- in this order
};

/** Where bytes lie below the root of a store; the key of an object. */
export const blobKey = (area: string, sha256: string): string => `${area}/${sha256.slice(0, 2)}/${sha256}`;

/** Reads the store in this marked folder, and changes nothing. */
export const readFiles = (root: string): Pick<Blobs, 'get'> => ({
  get: async (area, sha256, range, size) => {
    try {
      const handle = await open(join(root, blobKey(area, sha256)), 'r');
      if (size !== undefined && (await handle.stat()).size !== size) {
        await handle.close();
        throw damaged();
      }
      return handle.createReadStream(range);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await requireMarker(root);
      return null;
    }
  },
});

/** Opens the store in this marked folder, of which no other process has the same. */
export const openBlobs = async (root: string): Promise<Blobs> => {
  const unfinished = join(root, 'unfinished');
  // What a process left that died.
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  const fileOf = (area: string, sha256: string): string => join(root, blobKey(area, sha256));
  return {
    put: async (area, content, placing = placeAtOnce) => {
      const temporary = join(unfinished, randomBytes(16).toString('hex'));
      try {
        const stored = await writeIn(root, temporary, content);
        await placing(stored, async () => await place(root, temporary, fileOf(area, stored.sha256)));
        return stored;
      } finally {
        await rm(temporary, { force: true });
      }
    },
    has: async (area, sha256) => {
      try {
        await access(fileOf(area, sha256));
        return true;
      } catch (error) {
        if (!isMissing(error)) throw error;
        await requireMarker(root);
        return false;
      }
    },
    ...readFiles(root),
    link: async () => await Promise.resolve(null),
    remove: async (area, sha256) => {
      await requireMarker(root);
      await rm(fileOf(area, sha256), { force: true });
    },
    removeArea: async (area) => {
      await requireMarker(root);
      await rm(join(root, area), { recursive: true, force: true });
    },
  };
};
