/**
 * Files that grow: a job's trace, while it runs and afterwards. What was appended outlives the process at once, a
 * power cut once the file was finished.
 */
import { EventEmitter } from 'node:events';
import { writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { Range } from './files.ts';
import { unavailable } from '../errors.ts';
import { isDiskFull, isMissing, syncFolder } from './folders.ts';
import { hasSecret, mask } from './mask.ts';
import { type Entry, OpenFiles } from './open_files.ts';

/** Whose file it is: the row of a job will do. */
export type Named = { project_id: number; id: number };

/** `accepted`: all of it is there. Else it does not fit, and `size` is from where it should go on. */
export type Appended = { accepted: boolean; size: number };

/** Bytes there are, and their CRC-32 as they came; null: of a masked one it is not known after a restart. */
export type State = { size: number; crc: number | null };

export type AppendFiles = {
  /** Bytes there are; null: there is no such file. */
  size: (of: Named) => Promise<number | null>;
  /** For those that are written to: the checksum of a file at rest is found by reading it. */
  state: (of: Named) => Promise<State | null>;
  /**
   * Appends; what is there already, and is the same, may come again. None of `secrets` can be read afterwards: `x`
   * stands in place of each of its bytes, so that places stay what they are.
   */
  append: (of: Named, offset: number, chunk: Buffer, secrets?: readonly string[]) => Promise<Appended>;
  /** Makes these bytes all that there is. */
  replace: (of: Named, content: Buffer, secrets?: readonly string[]) => Promise<void>;
  /** Empties it: all of it will come again. */
  restart: (of: Named) => Promise<void>;
  /** Answers once it is on disk, with its name. */
  finish: (of: Named) => Promise<State | null>;
  read: (of: Named, range?: Range) => Promise<Readable | null>;
  remove: (of: Named) => Promise<void>;
  removeProject: (id: number) => Promise<void>;
  /** Calls back whenever it changed; answers what ends that. */
  watch: (of: Named, changed: () => void) => () => void;
  isWatched: (of: Named) => boolean;
  close: () => Promise<void>;
};

/** Bytes that are written at once: to memory of the system, in less time than another thread takes to be told. */
const small = 64 * 1024;

const writeAll = async (handle: FileHandle, bytes: Buffer, position: number): Promise<void> => {
  let written = bytes.length > small ? 0 : writeSync(handle.fd, bytes, 0, bytes.length, position);
  while (written < bytes.length) {
    // oxlint-disable-next-line no-await-in-loop -- the next piece goes behind what the last wrote
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
};

const readAt = async (handle: FileHandle, position: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
};

const sizeOf = async (file: string): Promise<number | null> => {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

/** A file beside one that is masked: nobody may take its checksum for that of what came. */
const markOf = (file: string): string => `${file}.masked`;

const stateOf = async (file: string, entry: Entry, handle: FileHandle): Promise<State> => {
  if (entry.crc === 'later') {
    if ((await sizeOf(markOf(file))) !== null) entry.crc = null;
    else {
      let crc = 0;
      const stream = handle.createReadStream({ start: 0, autoClose: false });
      for await (const chunk of stream as AsyncIterable<Buffer>) crc = crc32(chunk, crc);
      entry.crc = crc;
    }
  }
  return { size: entry.size, crc: entry.crc };
};

/** Bytes of a file's end that are kept in memory: most secrets are shorter, and it need not be read for them. */
const keptEnding = 256;

const endingOf = async (entry: Entry, handle: FileHandle, length: number): Promise<Buffer> =>
  length <= entry.ending.length
    ? entry.ending.subarray(entry.ending.length - length)
    : await readAt(handle, entry.size - length, length);

/** Writes behind what there is, and over the end of it where a secret began there. */
const extend = async (
  file: string,
  { entry, handle }: { entry: Entry; handle: FileHandle },
  chunk: Buffer,
  secrets: readonly string[],
): Promise<void> => {
  const longest = Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret) - 1));
  const before = Math.min(longest, entry.size);
  const ending = await endingOf(entry, handle, before);
  // What then stands at its end.
  let known = chunk;
  if (hasSecret({ ending, longest }, chunk, secrets)) {
    const joined = Buffer.concat([ending, chunk]);
    known = mask(joined, secrets) ?? joined;
    await (await open(markOf(file), 'a', 0o600)).close();
    await writeAll(handle, known, entry.size - before);
  } else {
    await writeAll(handle, chunk, entry.size);
    if (chunk.length < keptEnding) known = Buffer.concat([entry.ending, chunk]);
  }
  if (typeof entry.crc === 'number') entry.crc = crc32(chunk, entry.crc);
  entry.size += chunk.length;
  entry.ending = Buffer.from(known.subarray(-keptEnding));
};

const empty = async (file: string, entry: Entry, handle: FileHandle): Promise<void> => {
  await handle.truncate(0);
  await rm(markOf(file), { force: true });
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
    // With each piece of each log: to join would take it apart first.
    return `${this.#root}/${projectId}`;
  }

  #fileOf({ project_id, id }: Named): string {
    return `${this.#folderOf(project_id)}/${id}.log`;
  }

  /**
   * Works on the file in its turn; null: there is none, and none is made.
   * @throws Failure 503 where the disk is full
   */
  async #on<T>(
    of: Named,
    isMade: boolean,
    work: (file: string, entry: Entry, handle: FileHandle) => Promise<T>,
  ): Promise<T | null> {
    const file = this.#fileOf(of);
    try {
      return await this.#files.inTurn(file, async (entry) => {
        const handle = await this.#files.open(file, entry, isMade);
        return handle === null ? null : await work(file, entry, handle);
      });
    } catch (error) {
      throw isDiskFull(error) ? unavailable() : error;
    }
  }

  #tell(of: Named): void {
    this.#watchers.emit(this.#fileOf(of));
  }

  async size(of: Named): Promise<number | null> {
    return await sizeOf(this.#fileOf(of));
  }

  async state(of: Named): Promise<State | null> {
    return await this.#on(of, false, stateOf);
  }

  async append(of: Named, offset: number, chunk: Buffer, secrets: readonly string[] = []): Promise<Appended> {
    const isMade = offset === 0 && chunk.length > 0;
    const appended = await this.#on(
      of,
      isMade,
      async (file, entry, handle) => await tryAppend(file, { entry, handle }, { offset, chunk, secrets }),
    );
    if (appended === null) return { accepted: offset === 0, size: 0 };
    if (appended.accepted) this.#tell(of);
    return appended;
  }

  async replace(of: Named, content: Buffer, secrets: readonly string[] = []): Promise<void> {
    await this.#on(of, true, async (file, entry, handle) => {
      const all = { offset: 0, chunk: content, secrets };
      const { accepted, size } = await tryAppend(file, { entry, handle }, all);
      if (accepted && size === content.length) return;
      await empty(file, entry, handle);
      await extend(file, { entry, handle }, content, secrets);
    });
    this.#tell(of);
  }

  async restart(of: Named): Promise<void> {
    await this.#on(of, false, empty);
    this.#tell(of);
  }

  async finish(of: Named): Promise<State | null> {
    return await this.#on(of, false, async (file, entry, handle) => {
      const state = await stateOf(file, entry, handle);
      await handle.sync();
      await syncFolder(dirname(file));
      // What is known of it stays: the same question may come again.
      await this.#files.close(entry);
      return state;
    });
  }

  async read(of: Named, range?: Range): Promise<Readable | null> {
    const file = this.#fileOf(of);
    const size = range === undefined ? await sizeOf(file) : 0;
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

  async remove(of: Named): Promise<void> {
    const file = this.#fileOf(of);
    await this.#files.inTurn(file, async (entry) => {
      await this.#files.forget(entry);
      await rm(file, { force: true });
      await rm(markOf(file), { force: true });
    });
    this.#tell(of);
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

  watch(of: Named, changed: () => void): () => void {
    const file = this.#fileOf(of);
    this.#watchers.on(file, changed);
    return () => void this.#watchers.off(file, changed);
  }

  isWatched(of: Named): boolean {
    return this.#watchers.listenerCount(this.#fileOf(of)) > 0;
  }

  async close(): Promise<void> {
    await this.#forgetAll(this.#files.names);
  }
}

/** Opens those in this folder, of which no other process has the same. */
export const openAppendFiles = async (root: string): Promise<AppendFiles> => {
  const created = await mkdir(root, { recursive: true, mode: 0o700 });
  if (created !== undefined) await syncFolder(dirname(root));
  return new Files(root);
};
