/**
 * Append-only files in the data folder, such as job logs. Appended data survives a crash of the process, and finished
 * files also a power cut.
 */
import { EventEmitter } from 'node:events';
import { writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { Range } from './blob_files.ts';
import { isDiskFailure, unavailable } from '../errors.ts';
import { isMissing, syncFolder, readSize } from './file_system.ts';
import { hasSecret, mask } from './mask_secrets.ts';
import { type Entry, OpenFiles, copyUnpooled } from './open_file_cache.ts';
import { type TraceKey, getTracePath } from './trace_path.ts';

/** `accepted`: everything is stored. Otherwise the offset did not match, and the sender should continue at `size`. */
export type Appended = { accepted: boolean; size: number };

/** Size in bytes and CRC-32 of the bytes as sent; null: unknown, as for a masked file after a restart. */
export type State = { size: number; crc: number | null };

export type AppendFiles = {
  /** Size in bytes; null: no such file. */
  size: (key: TraceKey) => Promise<number | null>;
  /** State of a file that is being written. The checksum of a file written earlier is computed by reading it. */
  state: (key: TraceKey) => Promise<State | null>;
  /**
   * Appends a chunk. Bytes that are stored already may be sent again if they are the same. Each byte of a secret is
   * replaced by `x`, so that offsets stay valid.
   */
  append: (key: TraceKey, offset: number, chunk: Buffer, secrets?: readonly string[]) => Promise<Appended>;
  /** Replaces the whole content. */
  replace: (key: TraceKey, content: Buffer, secrets?: readonly string[]) => Promise<void>;
  /** Empties the file, to be sent again from the start. */
  restart: (key: TraceKey) => Promise<void>;
  /** Resolves once the content and the file's name are on disk. */
  finish: (key: TraceKey) => Promise<State | null>;
  read: (key: TraceKey, range?: Range) => Promise<Readable | null>;
  remove: (key: TraceKey) => Promise<void>;
  removeProject: (id: number) => Promise<void>;
  /** Calls back after each change. Returns a function that unsubscribes. */
  watch: (key: TraceKey, changed: () => void) => () => void;
  isWatched: (key: TraceKey) => boolean;
  close: () => Promise<void>;
};

/** Bytes that are written synchronously: a write to the page cache is faster than a hop to another thread. */
const small = 64 * 1024;

const writeAll = async (handle: FileHandle, bytes: Buffer, position: number): Promise<void> => {
  let written = bytes.length > small ? 0 : writeSync(handle.fd, bytes, 0, bytes.length, position);
  while (written < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
};

const readAt = async (handle: FileHandle, position: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
};

/** Path of a marker next to a masked file. Its checksum must not be reported as the checksum of the bytes sent. */
const getMarkPath = (file: string): string => `${file}.masked`;

const readState = async (file: string, entry: Entry, handle: FileHandle): Promise<State> => {
  if (entry.crc === 'later') {
    if ((await readSize(getMarkPath(file))) !== null) entry.crc = null;
    else {
      let crc = 0;
      const stream = handle.createReadStream({ start: 0, autoClose: false });
      for await (const chunk of stream as AsyncIterable<Buffer>) crc = crc32(chunk, crc);
      entry.crc = crc;
    }
  }
  return { size: entry.size, crc: entry.crc };
};

/** Bytes of a file's end kept in memory, to find most secrets that span two chunks without reading the file. */
const keptEnding = 256;

const readEnding = async (entry: Entry, handle: FileHandle, length: number): Promise<Buffer> =>
  length <= entry.ending.length
    ? entry.ending.subarray(entry.ending.length - length)
    : await readAt(handle, entry.size - length, length);

/** Appends a chunk, and rewrites the end of the file if a secret began there. */
const extend = async (
  file: string,
  { entry, handle }: { entry: Entry; handle: FileHandle },
  chunk: Buffer,
  secrets: readonly string[],
): Promise<void> => {
  const maxSecretOverlap = Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret) - 1));
  const before = Math.min(maxSecretOverlap, entry.size);
  const ending = await readEnding(entry, handle, before);
  // The chunk as stored, which becomes the new ending.
  let stored = chunk;
  if (hasSecret({ ending, maxOverlap: maxSecretOverlap }, chunk, secrets)) {
    const joined = Buffer.concat([ending, chunk]);
    stored = mask(joined, secrets) ?? joined;
    await (await open(getMarkPath(file), 'a', 0o600)).close();
    await writeAll(handle, stored, entry.size - before);
  } else {
    await writeAll(handle, chunk, entry.size);
    if (chunk.length < keptEnding) stored = Buffer.concat([entry.ending, chunk]);
  }
  if (typeof entry.crc === 'number') entry.crc = crc32(chunk, entry.crc);
  entry.size += chunk.length;
  entry.ending = copyUnpooled(stored.subarray(-keptEnding));
};

const empty = async (file: string, entry: Entry, handle: FileHandle): Promise<void> => {
  await handle.truncate(0);
  await rm(getMarkPath(file), { force: true });
  Object.assign(entry, { size: 0, crc: 0, ending: Buffer.alloc(0) });
};

type Chunk = { offset: number; chunk: Buffer; secrets: readonly string[] };

const tryAppend = async (
  file: string,
  opened: { entry: Entry; handle: FileHandle },
  { offset, chunk, secrets }: Chunk,
): Promise<Appended> => {
  const { entry, handle } = opened;
  const { size } = entry;
  const common = Math.min(size - offset, chunk.length);
  if (common < 0) return { accepted: false, size };
  if (common > 0) {
    const come = (mask(chunk, secrets) ?? chunk).subarray(0, common);
    if (!(await readAt(handle, offset, common)).equals(come)) return { accepted: false, size };
  }
  if (common < chunk.length) await extend(file, opened, chunk.subarray(common), secrets);
  return { accepted: true, size: entry.size };
};

class Files implements AppendFiles {
  readonly #root: string;
  readonly #files: OpenFiles;
  readonly #watchers = new EventEmitter().setMaxListeners(0);

  constructor(root: string) {
    this.#root = resolve(root);
    this.#files = new OpenFiles(this.#root);
  }

  #folderOf(projectId: number): string {
    // Runs for each chunk, so it avoids `path.join`, which parses its arguments.
    return `${this.#root}/${projectId}`;
  }

  #fileOf(key: TraceKey): string {
    return `${this.#root}/${getTracePath(key)}`;
  }

  /**
   * Runs work on a file, serialized per file. Returns null if the file does not exist and is not created.
   * @throws Failure 503 if the disk is full or read-only
   */
  async #on<T>(
    key: TraceKey,
    isMade: boolean,
    work: (file: string, entry: Entry, handle: FileHandle) => Promise<T>,
  ): Promise<T | null> {
    const file = this.#fileOf(key);
    try {
      return await this.#files.inTurn(file, async (entry) => {
        const handle = await this.#files.open(file, entry, isMade);
        return handle === null ? null : await work(file, entry, handle);
      });
    } catch (error) {
      throw isDiskFailure(error) ? unavailable() : error;
    }
  }

  #tell(key: TraceKey): void {
    this.#watchers.emit(this.#fileOf(key));
  }

  async size(key: TraceKey): Promise<number | null> {
    return await readSize(this.#fileOf(key));
  }

  async state(key: TraceKey): Promise<State | null> {
    return await this.#on(key, false, readState);
  }

  async append(
    key: TraceKey,
    offset: number,
    chunk: Buffer,
    secrets: readonly string[] = [],
  ): Promise<Appended> {
    const isMade = offset === 0 && chunk.length > 0;
    const appended = await this.#on(
      key,
      isMade,
      async (file, entry, handle) => await tryAppend(file, { entry, handle }, { offset, chunk, secrets }),
    );
    if (appended === null) return { accepted: offset === 0, size: 0 };
    if (appended.accepted) this.#tell(key);
    return appended;
  }

  async replace(key: TraceKey, content: Buffer, secrets: readonly string[] = []): Promise<void> {
    await this.#on(key, true, async (file, entry, handle) => {
      const wholeContent = { offset: 0, chunk: content, secrets };
      const { accepted, size } = await tryAppend(file, { entry, handle }, wholeContent);
      if (accepted && size === content.length) return;
      await empty(file, entry, handle);
      await extend(file, { entry, handle }, content, secrets);
    });
    this.#tell(key);
  }

  async restart(key: TraceKey): Promise<void> {
    await this.#on(key, false, empty);
    this.#tell(key);
  }

  async finish(key: TraceKey): Promise<State | null> {
    return await this.#on(key, false, async (file, entry, handle) => {
      const state = await readState(file, entry, handle);
      await handle.sync();
      await syncFolder(dirname(file));
      // Keep size and checksum: the same query may come again.
      await this.#files.close(entry);
      return state;
    });
  }

  async read(key: TraceKey, range?: Range): Promise<Readable | null> {
    const file = this.#fileOf(key);
    const size = range === undefined ? await readSize(file) : 0;
    if (size === null) return null;
    const { start, end } = range ?? { start: 0, end: size - 1 };
    if (end < start) return Readable.from([]);
    try {
      return (await open(file, 'r')).createReadStream({ start, end });
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async remove(key: TraceKey): Promise<void> {
    const file = this.#fileOf(key);
    await this.#files.inTurn(file, async (entry) => {
      await this.#files.forget(entry);
      await rm(file, { force: true });
      await rm(getMarkPath(file), { force: true });
    });
    this.#tell(key);
  }

  async #forgetAll(names: readonly string[]): Promise<void> {
    await Promise.all(
      names.map(
        async (file) => await this.#files.inTurn(file, async (entry) => await this.#files.forget(entry)),
      ),
    );
  }

  async removeProject(id: number): Promise<void> {
    const folder = this.#folderOf(id);
    await this.#forgetAll(this.#files.names.filter((file) => dirname(file) === folder));
    await rm(folder, { recursive: true, force: true });
  }

  watch(key: TraceKey, changed: () => void): () => void {
    const file = this.#fileOf(key);
    this.#watchers.on(file, changed);
    return () => void this.#watchers.off(file, changed);
  }

  isWatched(key: TraceKey): boolean {
    return this.#watchers.listenerCount(this.#fileOf(key)) > 0;
  }

  async close(): Promise<void> {
    await this.#forgetAll(this.#files.names);
  }
}

/** Opens the append-only files of a folder. Only one process may use a folder. */
export const openAppendFiles = async (root: string): Promise<AppendFiles> => {
  const created = await mkdir(root, { recursive: true, mode: 0o700 });
  if (created !== undefined) await syncFolder(dirname(root));
  return new Files(root);
};
