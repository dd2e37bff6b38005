/**
 * Content-addressed blobs, stored as files. An area groups the blobs of one owner, such as a project; each area has
 * its own copy.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, openSync } from 'node:fs';
import { access, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makeFolder } from '../git/make_folder.ts';
import { damagedFile, unavailable } from '../errors.ts';
import { readMarker } from '../git/instance_marker.ts';
import { isMissing, syncFolder } from './file_system.ts';

export type Stored = { size: number; /** Hexadecimal. */ sha256: string };

/** Offsets of the first and last byte, inclusive. */
export type Range = { start: number; end: number };

/**
 * Called once all bytes have arrived. They become readable when `place` resolves; if it is not called, they are
 * dropped.
 */
export type Placing = (stored: Stored, place: () => Promise<void>) => Promise<void>;

export const placeAtOnce: Placing = async (_stored, place) => await place();

export type Blobs = {
  /**
   * Stores a stream. Resolves once content and name are on disk. An interrupted stream, or one that was not placed,
   * leaves nothing.
   */
  put: (area: string, content: Readable, placing?: Placing) => Promise<Stored>;
  has: (area: string, sha256: string) => Promise<boolean>;
  /**
   * Reads a blob or a part of it; null if it does not exist.
   * @param size as recorded; if given, the stored size must match
   * @throws Failure 503 if the stored size differs
   */
  get: (area: string, sha256: string, range?: Range, size?: number) => Promise<Readable | null>;
  /**
   * Returns a temporary link that downloads the blob without authentication; null if the store offers no links or the
   * blob does not exist.
   * @param size as recorded; if given, the stored size must match
   * @throws Failure 503 if the stored size differs
   */
  link: (area: string, sha256: string, fileName: string, size?: number) => Promise<string | null>;
  /** Removes a blob; does nothing if it does not exist. */
  remove: (area: string, sha256: string) => Promise<void>;
  removeArea: (area: string) => Promise<void>;
  /** Resolves if the store answers. @throws Failure 503 */
  check: () => Promise<void>;
};

export const getProjectArea = (id: number): string => `projects/${id}`;

/** Returns a folder and its ancestors up to the root, innermost first. */
const foldersUpTo = (root: string, folder: string): string[] => {
  const steps = relative(root, folder).split(sep);
  return steps.map((_step, at) => join(root, ...steps.slice(0, steps.length - at))).concat(root);
};

const write = async (file: string, content: Readable): Promise<Stored> => {
  const digest = createHash('sha256');
  let size = 0;
  // Open the file first: a stream that opens it by itself may do so after cleanup removed it.
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

/**
 * Checks that the store is mounted, not only its mount point.
 * @throws Failure 503
 */
const requireMarker = async (root: string): Promise<void> => {
  if ((await readMarker(root)) === null) throw unavailable();
};

/**
 * Writes a stream to a file.
 * @throws Failure 503 if the folder disappeared
 */
const writeIn = async (root: string, file: string, content: Readable): Promise<Stored> => {
  try {
    return await write(file, content);
  } catch (error) {
    if (isMissing(error)) await requireMarker(root);
    throw error;
  }
};

/** Moves a file to its final path, durably. */
const place = async (root: string, from: string, to: string): Promise<void> => {
  const folder = dirname(to);
  const created = await makeFolder(folder, 0o700);
  await rename(from, to);
  const folders = created === undefined ? [folder] : foldersUpTo(root, folder);
  for (const changed of folders) await syncFolder(changed);
};

/** Returns the path of a blob below the store's root, which is also its key in a bucket. */
export const getBlobKey = (area: string, sha256: string): string => `${area}/${sha256.slice(0, 2)}/${sha256}`;

/** Opens a store for reading only. The folder must have a marker. */
export const readFiles = (root: string): Pick<Blobs, 'get'> => ({
  get: async (area, sha256, range, size) => {
    try {
      const handle = await open(join(root, getBlobKey(area, sha256)), 'r');
      if (size !== undefined && (await handle.stat()).size !== size) {
        await handle.close();
        throw damagedFile();
      }
      return handle.createReadStream(range);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await requireMarker(root);
      return null;
    }
  },
});

/**
 * Opens a store. The folder must have a marker, and only one process may use it, in addition to guests.
 * @param isGuest another process owns the store, so its unfinished files are kept
 */
export const openBlobs = async (root: string, isGuest = false): Promise<Blobs> => {
  const unfinished = join(root, 'unfinished');
  // Remove what a killed process left.
  if (!isGuest) await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  const getFilePath = (area: string, sha256: string): string => join(root, getBlobKey(area, sha256));
  return {
    put: async (area, content, placing = placeAtOnce) => {
      const temporary = join(unfinished, randomBytes(16).toString('hex'));
      try {
        const stored = await writeIn(root, temporary, content);
        await placing(stored, async () => await place(root, temporary, getFilePath(area, stored.sha256)));
        return stored;
      } finally {
        await rm(temporary, { force: true });
      }
    },
    has: async (area, sha256) => {
      try {
        await access(getFilePath(area, sha256));
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
      await rm(getFilePath(area, sha256), { force: true });
    },
    removeArea: async (area) => {
      await requireMarker(root);
      await rm(join(root, area), { recursive: true, force: true });
    },
    check: async () => await requireMarker(root),
  };
};
