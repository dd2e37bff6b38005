/**
 * Caches packs on disk for some minutes. The first clone runs git and writes a file; further clones of the same thing
 * read it, even while it grows. A disconnecting client does not end it for the others.
 */
import { hash } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { GitError } from '../git_error.ts';
import type { Watchdog } from '../exec/transfer_watchdog.ts';

export type PackCacheOptions = {
  /** Emptied at the start. */
  folder: string;
  /** Maximum bytes of all files. */
  budget: number;
  /** Maximum files; each keeps a descriptor open. */
  maxFiles: number;
  /** Milliseconds that a file is reused. */
  age: number;
};

type Entry = {
  key: string;
  file: string;
  handle: FileHandle;
  size: number;
  /** Milliseconds since the epoch. */
  createdAt: number;
  readers: number;
  state: 'growing' | 'whole' | 'failed';
  /** Callbacks for its growth or end. */
  waiting: (() => void)[];
  stop: AbortController;
  /** No longer reused: removed when its last reader leaves. */
  dropped: boolean;
};

/** Source of a pack: the output of a git process, and its end. */
export type Source = (signal: AbortSignal) => Promise<{ output: Readable; ended: Promise<void> }>;

/** A reader; called for each piece written to it. */
export type Reader = Pick<Watchdog, 'signal' | 'touch'>;

export type PackCache = {
  /** Returns whether the pack is cached or being written. */
  holds: (name: string) => boolean;
  /** Writes the pack to `output` without ending it. Rejects if git fails or the reader leaves. */
  serve: (name: string, output: Writable, source: Source, reader: Reader) => Promise<void>;
  /** For tests: numbers of misses and hits. */
  counts: { misses: number; hits: number };
  close: () => void;
};

const pieceLength = 256 * 1024;
/** Milliseconds that git keeps running without a reader, because the client may retry. */
const orphanAge = 10_000;

const notifyWaiters = (entry: Entry): void => {
  for (const resume of entry.waiting.splice(0)) resume();
};

const callerGone = (): GitError => new GitError('unavailable', 'the caller has gone');

const writePiece = async (output: Writable, bytes: Buffer, { signal, touch }: Reader): Promise<void> => {
  signal.throwIfAborted();
  if (output.destroyed) throw callerGone();
  touch();
  if (output.write(bytes)) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = (): void => reject(callerGone());
  const onAbort = (): void => reject(signal.reason as Error);
  output.once('drain', resolve).once('close', onClose);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await promise;
  } finally {
    output.off('drain', resolve).off('close', onClose);
    signal.removeEventListener('abort', onAbort);
  }
};

/** Reads a file while it is written. Errors of git are sent after what it wrote. */
const copyTo = async (entry: Entry, output: Writable, reader: Reader): Promise<void> => {
  let at = 0;
  for (;;) {
    reader.signal.throwIfAborted();
    if (at < entry.size) {
      // A new buffer each time: the socket may still hold the last one.
      const piece = Buffer.allocUnsafe(Math.min(pieceLength, entry.size - at));
      const { bytesRead } = await entry.handle.read(piece, 0, piece.length, at);
      at += bytesRead;
      await writePiece(output, piece.subarray(0, bytesRead), reader);
      continue;
    }
    if (entry.state === 'failed' && entry.size === 0)
      throw new GitError('internal', 'git could not make the pack');
    if (entry.state !== 'growing') return;
    const { promise, resolve } = Promise.withResolvers<void>();
    entry.waiting.push(resolve);
    await promise;
  }
};

const remove = async (entry: Entry): Promise<void> => {
  await entry.handle.close().catch(() => undefined);
  await rm(entry.file, { force: true });
};

/** Stops git, or removes the file, after the last reader left an entry that is no longer reused. */
const releaseDropped = (entry: Entry): void => {
  if (entry.state === 'growing') entry.stop.abort(new GitError('unavailable', 'nobody reads'));
  else void remove(entry);
};

type EntryTable = {
  find: (key: string) => Entry | undefined;
  put: (entry: Entry) => void;
  drop: (entry: Entry) => void;
  sweep: () => void;
  close: () => void;
};

/** Creates the table of reusable entries, oldest first. */
const makeEntryTable = ({ budget, maxFiles, age }: PackCacheOptions): EntryTable => {
  const entries = new Map<string, Entry>();
  let sweeper: NodeJS.Timeout | null = null;
  const drop = (entry: Entry): void => {
    if (entries.get(entry.key) === entry) entries.delete(entry.key);
    entry.dropped = true;
    if (entry.readers === 0) releaseDropped(entry);
  };
  const close = (): void => {
    if (sweeper !== null) clearInterval(sweeper);
    sweeper = null;
  };
  const sweep = (): void => {
    const now = Date.now();
    for (const entry of entries.values()) {
      if (entry.state !== 'growing' && now - entry.createdAt > age) drop(entry);
    }
    let total = entries.values().reduce((sum, { size }) => sum + size, 0);
    for (const entry of entries.values()) {
      if (total <= budget && entries.size <= maxFiles) break;
      if (entry.state === 'growing') continue;
      total -= entry.size;
      drop(entry);
    }
    if (entries.size === 0) close();
  };
  return {
    find: (key) => {
      const entry = entries.get(key);
      if (entry === undefined || Date.now() - entry.createdAt <= age) return entry;
      drop(entry);
      return undefined;
    },
    put: (entry) => {
      entries.set(entry.key, entry);
      sweeper ??= setInterval(sweep, Math.min(age, 30_000)).unref();
    },
    drop,
    sweep,
    close: () => {
      close();
      for (const entry of entries.values()) drop(entry);
    },
  };
};

/** Runs git and writes its output to the entry's file. */
const fill = async (entry: Entry, source: Source, { drop, sweep }: EntryTable): Promise<void> => {
  try {
    const { output, ended } = await source(entry.stop.signal);
    for await (const chunk of output as AsyncIterable<Buffer>) {
      await entry.handle.write(chunk, 0, chunk.length, entry.size);
      entry.size += chunk.length;
      notifyWaiters(entry);
    }
    await ended;
    entry.state = 'whole';
    if (entry.dropped && entry.readers === 0) await remove(entry);
  } catch {
    entry.state = 'failed';
    entry.stop.abort(new GitError('unavailable', 'the answer could not be stored'));
    drop(entry);
  }
  notifyWaiters(entry);
  sweep();
};

const removeReader = async (entry: Entry, { drop }: EntryTable): Promise<void> => {
  entry.readers -= 1;
  if (entry.readers > 0) return;
  if (entry.dropped) releaseDropped(entry);
  if (entry.dropped || entry.state !== 'growing') return;
  await wait(orphanAge, undefined, { ref: false });
  if (entry.state === 'growing' && entry.readers === 0) drop(entry);
};

const hashKey = (name: string): string => hash('sha256', name);

const newEntry = async (key: string, file: string): Promise<Entry> => ({
  key,
  file,
  handle: await open(file, 'wx+', 0o600),
  size: 0,
  createdAt: Date.now(),
  readers: 0,
  state: 'growing',
  waiting: [],
  stop: new AbortController(),
  dropped: false,
});

const emptyFolder = async (folder: string): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
};

export const openPackCache = async (options: PackCacheOptions): Promise<PackCache> => {
  const { folder } = options;
  await emptyFolder(folder);
  const entries = makeEntryTable(options);
  const opening = new Map<string, Promise<Entry>>();
  const counts = { misses: 0, hits: 0 };

  const startEntry = async (key: string, source: Source): Promise<Entry> => {
    const entry = await newEntry(key, join(folder, `${counts.misses}-${key}`));
    entries.put(entry);
    void fill(entry, source, entries);
    return entry;
  };

  const openEntry = async (key: string, source: Source): Promise<Entry> => {
    const existing = opening.get(key) ?? entries.find(key);
    if (existing !== undefined) {
      counts.hits += 1;
      return await existing;
    }
    counts.misses += 1;
    const started = startEntry(key, source).finally(() => opening.delete(key));
    opening.set(key, started);
    return await started;
  };

  return {
    counts,
    holds: (name) => {
      const key = hashKey(name);
      return opening.has(key) || entries.find(key) !== undefined;
    },
    serve: async (name, output, source, reader) => {
      const { signal } = reader;
      const entry = await openEntry(hashKey(name), source);
      entry.readers += 1;
      const onAbort = (): void => notifyWaiters(entry);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        await copyTo(entry, output, reader);
      } finally {
        signal.removeEventListener('abort', onAbort);
        void removeReader(entry, entries);
      }
    },
    close: entries.close,
  };
};

/** Measures a repository's packs in bytes: about the size of a clone. */
export const packBytes = async (dir: string): Promise<number> => {
  const folder = join(dir, 'objects/pack');
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names
      .filter((name) => name.endsWith('.pack'))
      .map(async (name) => (await stat(join(folder, name)).catch(() => ({ size: 0 }))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};
