/**
 * Append-only files shared by several services: chunks are database rows, so any service can take the next chunk and
 * read the earlier ones. Finished files move to the bucket. Files of an earlier version are still read from its data
 * folder.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import type { Store, Tx } from '../db/open.ts';
import type { AppendFiles, Appended, State } from './append_files.ts';
import type { TraceKey } from './trace_path.ts';
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
  /** Files of an earlier version, in the data folder. */
  files: AppendFiles;
  /** Called when the bucket refuses a finished file, which then stays in the database. */
  onFailure: (error: unknown, file: TraceKey) => void;
};

/** Maximum retries of a reader when the file moves during a read. */
const tries = 3;

const getArea = ({ project_id, id }: TraceKey): string => `${getProjectArea(project_id)}/traces/${id}`;
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
      const stream = await blobs.get(getArea(file), whole.sha256, { start: at, end });
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
  const stored = await parts.blobs.put(getArea(file), content);
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
  if (became === 'gone') await parts.blobs.removeArea(getArea(file));
  return became !== 'changed';
};

/** Moves an archived file back into rows, to append to it. */
const restoreRows = async ({ store, blobs }: Parts, file: TraceKey): Promise<void> => {
  const whole = await loadFileRow(store.db, file);
  if (whole === null || whole.sha256 === null) return;
  const { sha256, size, crc } = whole;
  const stream = await blobs.get(getArea(file), sha256);
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

const readers = (parts: Parts): Pick<AppendFiles, 'size' | 'state' | 'read'> => {
  const { store, files } = parts;
  return {
    size: async (file) => (await loadFileRow(store.db, file))?.size ?? (await files.size(file)),
    state: async (file) => {
      const whole = await loadFileRow(store.db, file);
      return whole === null ? await files.state(file) : { size: whole.size, crc: whole.crc };
    },
    read: async (file, range) => {
      const whole = await loadFileRow(store.db, file);
      if (whole === null) return await files.read(file, range);
      const { start, end } = range ?? { start: 0, end: whole.size - 1 };
      const last = Math.min(end, whole.size - 1);
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
      await blobs.removeArea(getArea(file));
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
