/** Files that stay open while they are written to: as many as may be, those that were used last. */
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isMissing, syncFolder } from './folders.ts';

/** What is known of a file. */
export type Entry = {
  handle: FileHandle | null;
  /** Bytes; -1: nobody looked yet. */
  size: number;
  /** CRC-32 of what came. `later`: of what an earlier process wrote, to be found by reading it; null: not to be found. */
  crc: number | null | 'later';
  /** Its last bytes, as many as were kept. */
  ending: Buffer;
};

type Queued = Entry & {
  /** Who comes next waits for it. */
  turn: Promise<unknown>;
  waiting: number;
};

const none = Buffer.alloc(0);
const mostHandles = 256;
const mostEntries = 10_000;

const tryOpen = async (root: string, file: string, isMade: boolean): Promise<FileHandle | null> => {
  try {
    return await open(file, 'r+');
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  if (!isMade) return null;
  const created = await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  if (created !== undefined) await syncFolder(root);
  return await open(file, 'wx+', 0o600);
};

export class OpenFiles {
  readonly #root: string;
  /** The one that was used last stands last. */
  readonly #entries = new Map<string, Queued>();
  #handles = 0;

  constructor(root: string) {
    this.#root = root;
  }

  get names(): string[] {
    return [...this.#entries.keys()];
  }

  /** Runs one after another what concerns one file. After what fails, nothing is known of it any more. */
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

  /** The file, open; null: there is none and none is to be made. Whoever asks has his turn. */
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

  /** Closes the file; what is known of it stays. */
  async close(entry: Entry): Promise<void> {
    const { handle } = entry;
    if (handle === null) return;
    entry.handle = null;
    this.#handles -= 1;
    await handle.close();
  }

  async forget(entry: Entry): Promise<void> {
    Object.assign(entry, { size: -1, crc: 'later', ending: none });
    await this.close(entry);
  }

  async #makeRoom(): Promise<void> {
    for (const [file, entry] of this.#entries) {
      const isOver = this.#entries.size > mostEntries;
      if (!isOver && this.#handles <= mostHandles) return;
      if (entry.waiting > 0) continue;
      if (isOver) this.#entries.delete(file);
      // oxlint-disable-next-line no-await-in-loop -- one or two at a time
      await this.close(entry);
    }
  }
}
