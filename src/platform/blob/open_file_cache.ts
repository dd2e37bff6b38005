/** Keeps files open that are being written: a bounded number, evicting the least recently used. */
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../git/make_folder.ts';
import { isMissing, syncFolder } from './file_system.ts';

/** Cached state of a file. */
export type Entry = {
  handle: FileHandle | null;
  /** Size in bytes; -1: not read yet. */
  size: number;
  /**
   * CRC-32 of the bytes as sent. `later`: an earlier process wrote the file, so the checksum is computed by reading
   * it; null: unknown.
   */
  crc: number | null | 'later';
  /** The last bytes, up to the cached length, in separate memory. Empty while the file is closed. */
  ending: Buffer;
};

type Queued = Entry & {
  /** Resolves when the last queued work on this file ends. */
  turn: Promise<unknown>;
  waiting: number;
};

/**
 * Copies bytes into separate memory. A short `Buffer` is a view of a shared slab of `Buffer.poolSize` bytes (64 KiB).
 * Keeping the view would keep the whole slab.
 */
export const copyUnpooled = (bytes: Buffer): Buffer => {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
};

const none = Buffer.alloc(0);
const maxHandles = 256;
const maxEntries = 10_000;

const tryOpen = async (root: string, file: string, isMade: boolean): Promise<FileHandle | null> => {
  try {
    return await open(file, 'r+');
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  if (!isMade) return null;
  const created = await makeFolder(dirname(file), 0o700);
  if (created !== undefined) await syncFolder(root);
  return await open(file, 'wx+', 0o600);
};

export class OpenFiles {
  readonly #root: string;
  /** Ordered by last use, most recent last. */
  readonly #entries = new Map<string, Queued>();
  #handles = 0;

  constructor(root: string) {
    this.#root = root;
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  /** Serializes work on one file. Discards the cached state if the work fails. */
  async inTurn<T>(file: string, work: (entry: Entry) => Promise<T>): Promise<T> {
    const entry: Queued = this.#entries.get(file) ?? {
      handle: null,
      size: -1,
      crc: 'later',
      ending: none,
      turn: Promise.resolve(),
      waiting: 0,
    };
    this.#entries.delete(file);
    this.#entries.set(file, entry);
    entry.waiting += 1;
    const mine = entry.turn.then(async () => await work(entry));
    entry.turn = mine.catch(async () => await this.forget(entry));
    try {
      return await mine;
    } finally {
      entry.waiting -= 1;
      await this.#makeRoom();
    }
  }

  /** Opens the file; null if it does not exist and `isMade` is false. Call within `inTurn` only. */
  async open(file: string, entry: Entry, isMade: boolean): Promise<FileHandle | null> {
    if (entry.handle !== null) return entry.handle;
    const handle = await tryOpen(this.#root, file, isMade);
    if (handle === null) return null;
    entry.handle = handle;
    this.#handles += 1;
    if (entry.size === -1) {
      entry.size = (await handle.stat()).size;
      entry.crc = entry.size === 0 ? 0 : 'later';
    }
    return handle;
  }

  /** Closes the file and keeps its size and checksum. */
  async close(entry: Entry): Promise<void> {
    const { handle } = entry;
    if (handle === null) return;
    entry.handle = null;
    entry.ending = none;
    this.#handles -= 1;
    await handle.close();
  }

  async forget(entry: Entry): Promise<void> {
    Object.assign(entry, { size: -1, crc: 'later', ending: none });
    await this.close(entry);
  }

  async #makeRoom(): Promise<void> {
    for (const [file, entry] of this.#entries) {
      const isOver = this.#entries.size > maxEntries;
      if (!isOver && this.#handles <= maxHandles) return;
      if (entry.waiting > 0) continue;
      if (isOver) this.#entries.delete(file);
      await this.close(entry);
    }
  }
}
