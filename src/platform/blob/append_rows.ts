/**
 * Append-only files shared by several services: chunks are database rows, so any service can take the next chunk and
 * read the earlier ones. Finished files move to the bucket. Files in the data folder, from before the services shared
 * them, are read from there.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import type { Store, Tx } from '../db/open.ts';
import type { AppendFiles, Appended, State } from './append_files.ts';
import { type TraceKey, getTraceArea } from './trace_path.ts';
import { type Blobs, type Range, getProjectArea } from './blob_files.ts';
import { mask } from './mask_secrets.ts';
import {
  type FileRow,
  extractBytes,
  deletePieces,
  insertPiece,
  insertFileRow,
  lockFileRow,
  loadPieces,
  markWaiting,
  updateFileRow,
  loadFileRow,
} from './append_file_rows.ts';

export type Parts = {
  store: Store;
  blobs: Blobs;
  /** Files of its own data folder, from before the services shared them. */
  files: AppendFiles;
  /** Called when the bucket refuses a finished file, which then stays in the database. */
  onFailure: (error: unknown, file: TraceKey) => void;
};

/** Maximum retries of a reader when the file moves during a read. */
const tries = 3;

const getTopic = ({ id }: TraceKey): string => `trace ${id}`;

type Chunk = { bytes: Buffer; secrets: readonly string[] };

/** Appends a chunk, and rewrites the end of the file if a secret began there. */
const extend = async (tx: Tx, file: TraceKey, whole: FileRow, { bytes, secrets }: Chunk): Promise<number> => {
  const maxSecretOverlap = Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret) - 1));
  const start = whole.size - Math.min(maxSecretOverlap, whole.size);
  const ending = await loadPieces(tx.db, file, { start, end: whole.size, limit: null });
  const end = extractBytes(ending, start, whole.size);
  const masked = mask(Buffer.concat([end, bytes]), secrets);
  const isApart = masked === null || masked.subarray(0, end.length).equals(end);
  if (isApart)
    await insertPiece(tx, file, { start: whole.size, bytes: masked?.subarray(end.length) ?? bytes });
  else {
    // Keep the rest of the rewritten bytes as a separate piece, so that pieces do not grow with each masked secret.
    const first = ending[0]?.start ?? start;
    await deletePieces(tx, file, first);
    await insertPiece(tx, file, { start: first, bytes: extractBytes(ending, first, start) });
    await insertPiece(tx, file, { start, bytes: masked });
  }
  const size = whole.size + bytes.length;
  await updateFileRow(tx, file, { size, crc: crc32(bytes, whole.crc), sha256: null });
  return size;
};

const tryAppend = async (
  tx: Tx,
  file: TraceKey,
  offset: number,
  { bytes, secrets }: Chunk,
): Promise<Appended | 'moved'> => {
  if (offset === 0) await insertFileRow(tx, file);
  const whole = await lockFileRow(tx, file);
  if (whole === null) return { accepted: false, size: 0 };
  const { size } = whole;
  const common = Math.min(size - offset, bytes.length);
  if (common < 0) return { accepted: false, size };
  if (whole.sha256 !== null && bytes.length > 0) return 'moved';
  if (common > 0) {
    const come = (mask(bytes, secrets) ?? bytes).subarray(0, common);
    const end = offset + common;
    const there = extractBytes(
      await loadPieces(tx.db, file, { start: offset, end, limit: null }),
      offset,
      end,
    );
    if (!there.equals(come)) return { accepted: false, size };
  }
  if (common === bytes.length) return { accepted: true, size };
  tx.broadcast(getTopic(file));
  return { accepted: true, size: await extend(tx, file, whole, { bytes: bytes.subarray(common), secrets }) };
};

/** Streams bytes of a file that may move from the rows to the bucket meanwhile. */
const streamBytes = async function* streamBytes(
  { store: { db }, blobs }: Parts,
  file: TraceKey,
  { start, end }: Range,
): AsyncGenerator<Buffer> {
  for (let [at, left] = [start, tries]; at <= end && left > 0;) {
    const whole = await loadFileRow(db, file);
    if (whole === null) return;
    if (whole.sha256 !== null) {
      const stream = await blobs.get(getTraceArea(file), whole.sha256, { start: at, end });
      if (stream !== null) {
        yield* stream as AsyncIterable<Buffer>;
        return;
      }
    }
    const pieces = await loadPieces(db, file, { start: at, end: end + 1 });
    if (pieces.length === 0) left -= 1;
    for (const piece of pieces) {
      const bytes = piece.bytes.subarray(at - piece.start, end + 1 - piece.start);
      at += bytes.length;
      yield bytes;
    }
  }
};

/**
 * Moves a finished file to the bucket. If something was appended meanwhile, everything stays in the rows.
 * @returns false if the move must be retried
 */
export const archive = async (parts: Parts, file: TraceKey, { size, crc }: FileRow): Promise<boolean> => {
  const content = Readable.from(streamBytes(parts, file, { start: 0, end: size - 1 }), { objectMode: false });
  const stored = await parts.blobs.put(getTraceArea(file), content);
  const became = await parts.store.write(async (tx) => {
    const now = await lockFileRow(tx, file);
    if (now === null) return 'gone';
    if (now.sha256 !== null) return 'there';
    if (stored.size !== size || now.size !== size || now.crc !== crc) return 'changed';
    await updateFileRow(tx, file, { size, crc, sha256: stored.sha256, waits_since: null });
    await deletePieces(tx, file);
    return 'there';
  });
  // Erased during the upload: remove the uploaded copy.
  if (became === 'gone') await parts.blobs.removeArea(getTraceArea(file));
  return became !== 'changed';
};

/** Moves an archived file back into rows, to append to it. */
const restoreRows = async ({ store, blobs }: Parts, file: TraceKey): Promise<void> => {
  const whole = await loadFileRow(store.db, file);
  if (whole === null || whole.sha256 === null) return;
  const { sha256, size, crc } = whole;
  const stream = await blobs.get(getTraceArea(file), sha256);
  if (stream === null) throw new Error(`the log of job ${file.id} is missing from the blob store`);
  const bytes = await buffer(stream);
  await store.write(async (tx) => {
    const now = await lockFileRow(tx, file);
    if (now?.sha256 !== sha256) return;
    await insertPiece(tx, file, { start: 0, bytes });
    await updateFileRow(tx, file, { size, crc, sha256: null });
  });
};

const writers = (parts: Parts): Pick<AppendFiles, 'append' | 'replace' | 'restart' | 'finish'> => {
  const { store } = parts;
  const append: AppendFiles['append'] = async (file, offset, bytes, secrets = []) => {
    for (;;) {
      const done = await store.write(async (tx) => await tryAppend(tx, file, offset, { bytes, secrets }));
      if (done !== 'moved') return done;
      await restoreRows(parts, file);
    }
  };
  const replace = async (
    file: TraceKey,
    bytes: Buffer,
    secrets: readonly string[],
    isMade: boolean,
  ): Promise<void> =>
    await store.write(async (tx) => {
      if (isMade) await insertFileRow(tx, file);
      if ((await lockFileRow(tx, file)) === null) return;
      await deletePieces(tx, file);
      await insertPiece(tx, file, { start: 0, bytes: mask(bytes, secrets) ?? bytes });
      await updateFileRow(tx, file, { size: bytes.length, crc: crc32(bytes), sha256: null });
      tx.broadcast(getTopic(file));
    });
  const finish = async (file: TraceKey): Promise<State | null> => {
    const whole = await loadFileRow(store.db, file);
    if (whole === null) return await parts.files.finish(file);
    const { size, crc, sha256 } = whole;
    if (sha256 === null && size > 0) {
      const isThere = await archive(parts, file, whole).catch((error: unknown) => {
        parts.onFailure(error, file);
        return false;
      });
      if (!isThere) await store.write(async (tx) => await markWaiting(tx, file));
    }
    return { size, crc };
  };
  return {
    append,
    replace: async (file, content, secrets = []) => await replace(file, content, secrets, true),
    restart: async (file) => await replace(file, Buffer.alloc(0), [], false),
    finish,
  };
};

type Location<T> = { row: FileRow } | { own: T };

/** Finds a file in the rows, or else in the data folder, from where it may move to the rows meanwhile. */
const locate = async <T>(
  { store: { db } }: Parts,
  file: TraceKey,
  readOwn: () => Promise<T | null>,
): Promise<Location<T> | null> => {
  const row = await loadFileRow(db, file);
  if (row !== null) return { row };
  const own = await readOwn();
  if (own !== null) return { own };
  const moved = await loadFileRow(db, file);
  return moved === null ? null : { row: moved };
};

const readers = (parts: Parts): Pick<AppendFiles, 'size' | 'state' | 'read'> => {
  const { files } = parts;
  return {
    size: async (file) => {
      const located = await locate(parts, file, async () => await files.size(file));
      return located !== null && 'row' in located ? located.row.size : (located?.own ?? null);
    },
    state: async (file) => {
      const located = await locate(parts, file, async () => await files.state(file));
      if (located === null || 'own' in located) return located?.own ?? null;
      return { size: located.row.size, crc: located.row.crc };
    },
    read: async (file, range) => {
      const located = await locate(parts, file, async () => await files.read(file, range));
      if (located === null || 'own' in located) return located?.own ?? null;
      const { start, end } = range ?? { start: 0, end: located.row.size - 1 };
      const last = Math.min(end, located.row.size - 1);
      return Readable.from(streamBytes(parts, file, { start, end: last }), { objectMode: false });
    },
  };
};

const watching = (store: Store): Pick<AppendFiles, 'watch' | 'isWatched'> => {
  const counts = new Map<number, number>();
  const add = (id: number, change: number): void => {
    const count = (counts.get(id) ?? 0) + change;
    if (count === 0) counts.delete(id);
    else counts.set(id, count);
  };
  return {
    watch: (file, changed) => {
      const end = store.listen(getTopic(file), changed);
      add(file.id, 1);
      return () => {
        end();
        add(file.id, -1);
      };
    },
    // Counts watchers of this process only. Others receive updates at the rate at which the runner sends.
    isWatched: ({ id }) => counts.has(id),
  };
};

export const openAppendRows = (parts: Parts): AppendFiles => {
  const { store, blobs, files } = parts;
  return {
    ...readers(parts),
    ...writers(parts),
    ...watching(store),
    remove: async (file) => {
      await store.write(async (tx) => {
        await tx.db.deleteFrom('shared_traces').where('job_id', '=', file.id).execute();
        tx.broadcast(getTopic(file));
      });
      await blobs.removeArea(getTraceArea(file));
      await files.remove(file);
    },
    removeProject: async (id) => {
      await store.write(async ({ db }) => {
        await db.deleteFrom('shared_traces').where('project_id', '=', id).execute();
      });
      await blobs.removeArea(`${getProjectArea(id)}/traces`);
      await files.removeProject(id);
    },
    close: async () => await files.close(),
  };
};
