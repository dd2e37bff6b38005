/**
 * What grows where several services share a database and a bucket: pieces are rows, so that any of them takes the next
 * piece and reads all that came before; what is finished goes into the bucket as a whole. What an older service left in
 * its own folder is read from there.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import type { Store, Tx } from '../db/open.ts';
import type { AppendFiles, Appended, Named, State } from './append_files.ts';
import { type Blobs, type Range, projectArea } from './files.ts';
import { mask } from './mask.ts';
import {
  type Whole,
  between,
  deletePieces,
  insertPiece,
  insertWhole,
  lockWhole,
  piecesOf,
  setWaiting,
  setWhole,
  wholeOf,
} from './piece_rows.ts';

export type Parts = {
  store: Store;
  blobs: Blobs;
  /** Those of before. */
  files: AppendFiles;
  /** Told that the bucket did not take what was finished: it stays where it is. */
  onFailure: (error: unknown, of: Named) => void;
};

/** Times that a reader looks again for what was moved while it read. */
const tries = 3;

const areaOf = ({ project_id, id }: Named): string => `${projectArea(project_id)}/traces/${id}`;
const topicOf = ({ id }: Named): string => `trace ${id}`;

type Chunk = { bytes: Buffer; secrets: readonly string[] };

/** Writes behind what there is, and over the end of it where a secret began there. */
const extend = async (tx: Tx, of: Named, whole: Whole, { bytes, secrets }: Chunk): Promise<number> => {
  const longest = Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret) - 1));
  const start = whole.size - Math.min(longest, whole.size);
  const ending = await piecesOf(tx.db, of, { start, end: whole.size, limit: null });
  const end = between(ending, start, whole.size);
  const masked = mask(Buffer.concat([end, bytes]), secrets);
  const isApart = masked === null || masked.subarray(0, end.length).equals(end);
  if (isApart) await insertPiece(tx, of, { start: whole.size, bytes: masked?.subarray(end.length) ?? bytes });
  else {
    // The rest of what is written over stays a piece of its own: none grows with each secret that is cut.
    const first = ending[0]?.start ?? start;
    await deletePieces(tx, of, first);
    await insertPiece(tx, of, { start: first, bytes: between(ending, first, start) });
    await insertPiece(tx, of, { start, bytes: masked });
  }
  const size = whole.size + bytes.length;
  await setWhole(tx, of, { size, crc: crc32(bytes, whole.crc), sha256: null });
  return size;
};

const tryAppend = async (
  tx: Tx,
  of: Named,
  offset: number,
  { bytes, secrets }: Chunk,
): Promise<Appended | 'moved'> => {
  if (offset === 0) await insertWhole(tx, of);
  const whole = await lockWhole(tx, of);
  if (whole === null) return { accepted: false, size: 0 };
  const { size } = whole;
  const common = Math.min(size - offset, bytes.length);
  if (common < 0) return { accepted: false, size };
  if (whole.sha256 !== null && bytes.length > 0) return 'moved';
  if (common > 0) {
    const come = (mask(bytes, secrets) ?? bytes).subarray(0, common);
    const end = offset + common;
    const there = between(await piecesOf(tx.db, of, { start: offset, end, limit: null }), offset, end);
    if (!there.equals(come)) return { accepted: false, size };
  }
  if (common === bytes.length) return { accepted: true, size };
  tx.broadcast(topicOf(of));
  return { accepted: true, size: await extend(tx, of, whole, { bytes: bytes.subarray(common), secrets }) };
};

/** Bytes of a whole that may move from the rows into the bucket while they are read. */
const bytesOf = async function* bytesOf(
  { store: { db }, blobs }: Parts,
  of: Named,
  { start, end }: Range,
): AsyncGenerator<Buffer> {
  // oxlint-disable no-await-in-loop -- one piece after another, as fast as they are taken
  for (let [at, left] = [start, tries]; at <= end && left > 0;) {
    const whole = await wholeOf(db, of);
    if (whole === null) return;
    if (whole.sha256 !== null) {
      const stream = await blobs.get(areaOf(of), whole.sha256, { start: at, end });
      if (stream !== null) {
        yield* stream as AsyncIterable<Buffer>;
        return;
      }
    }
    const pieces = await piecesOf(db, of, { start: at, end: end + 1 });
    if (pieces.length === 0) left -= 1;
    for (const piece of pieces) {
      const bytes = piece.bytes.subarray(at - piece.start, end + 1 - piece.start);
      at += bytes.length;
      yield bytes;
    }
  }
  // oxlint-enable no-await-in-loop
};

/**
 * Into the bucket; what was appended meanwhile keeps all of it in the rows.
 * @returns false: it is to be tried again
 */
export const archive = async (parts: Parts, of: Named, { size, crc }: Whole): Promise<boolean> => {
  const content = Readable.from(bytesOf(parts, of, { start: 0, end: size - 1 }), { objectMode: false });
  const stored = await parts.blobs.put(areaOf(of), content);
  const became = await parts.store.write(async (tx) => {
    const now = await lockWhole(tx, of);
    if (now === null) return 'gone';
    if (now.sha256 !== null) return 'there';
    if (stored.size !== size || now.size !== size || now.crc !== crc) return 'changed';
    await setWhole(tx, of, { size, crc, sha256: stored.sha256, waits_since: null });
    await deletePieces(tx, of);
    return 'there';
  });
  // Erased while it was on its way: nothing of it stays.
  if (became === 'gone') await parts.blobs.removeArea(areaOf(of));
  return became !== 'changed';
};

/** Back into the rows, of what goes on after its end. */
const bringBack = async ({ store, blobs }: Parts, of: Named): Promise<void> => {
  const whole = await wholeOf(store.db, of);
  if (whole === null || whole.sha256 === null) return;
  const { sha256, size, crc } = whole;
  const stream = await blobs.get(areaOf(of), sha256);
  if (stream === null) throw new Error(`the log of job ${of.id} is gone from the store of bytes`);
  const bytes = await buffer(stream);
  await store.write(async (tx) => {
    const now = await lockWhole(tx, of);
    if (now?.sha256 !== sha256) return;
    await insertPiece(tx, of, { start: 0, bytes });
    await setWhole(tx, of, { size, crc, sha256: null });
  });
};

const writers = (parts: Parts): Pick<AppendFiles, 'append' | 'replace' | 'restart' | 'finish'> => {
  const { store } = parts;
  const append: AppendFiles['append'] = async (of, offset, bytes, secrets = []) => {
    for (;;) {
      // oxlint-disable no-await-in-loop -- again once it is back
      const done = await store.write(async (tx) => await tryAppend(tx, of, offset, { bytes, secrets }));
      if (done !== 'moved') return done;
      await bringBack(parts, of);
      // oxlint-enable no-await-in-loop
    }
  };
  const replace = async (
    of: Named,
    bytes: Buffer,
    secrets: readonly string[],
    isMade: boolean,
  ): Promise<void> =>
    await store.write(async (tx) => {
      if (isMade) await insertWhole(tx, of);
      if ((await lockWhole(tx, of)) === null) return;
      await deletePieces(tx, of);
      await insertPiece(tx, of, { start: 0, bytes: mask(bytes, secrets) ?? bytes });
      await setWhole(tx, of, { size: bytes.length, crc: crc32(bytes), sha256: null });
      tx.broadcast(topicOf(of));
    });
  const finish = async (of: Named): Promise<State | null> => {
    const whole = await wholeOf(store.db, of);
    if (whole === null) return await parts.files.finish(of);
    const { size, crc, sha256 } = whole;
    if (sha256 === null && size > 0) {
      const isThere = await archive(parts, of, whole).catch((error: unknown) => {
        parts.onFailure(error, of);
        return false;
      });
      if (!isThere) await store.write(async (tx) => await setWaiting(tx, of));
    }
    return { size, crc };
  };
  return {
    append,
    replace: async (of, content, secrets = []) => await replace(of, content, secrets, true),
    restart: async (of) => await replace(of, Buffer.alloc(0), [], false),
    finish,
  };
};

const readers = (parts: Parts): Pick<AppendFiles, 'size' | 'state' | 'read'> => {
  const { store, files } = parts;
  return {
    size: async (of) => (await wholeOf(store.db, of))?.size ?? (await files.size(of)),
    state: async (of) => {
      const whole = await wholeOf(store.db, of);
      return whole === null ? await files.state(of) : { size: whole.size, crc: whole.crc };
    },
    read: async (of, range) => {
      const whole = await wholeOf(store.db, of);
      if (whole === null) return await files.read(of, range);
      const { start, end } = range ?? { start: 0, end: whole.size - 1 };
      const last = Math.min(end, whole.size - 1);
      return Readable.from(bytesOf(parts, of, { start, end: last }), { objectMode: false });
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
    watch: (of, changed) => {
      const end = store.listen(topicOf(of), changed);
      add(of.id, 1);
      return () => {
        end();
        add(of.id, -1);
      };
    },
    // As far as this process knows: those who watch through another hear as often as the runner sends.
    isWatched: ({ id }) => counts.has(id),
  };
};

export const openAppendRows = (parts: Parts): AppendFiles => {
  const { store, blobs, files } = parts;
  return {
    ...readers(parts),
    ...writers(parts),
    ...watching(store),
    remove: async (of) => {
      await store.write(async (tx) => {
        await tx.db.deleteFrom('shared_traces').where('job_id', '=', of.id).execute();
        tx.broadcast(topicOf(of));
      });
      await blobs.removeArea(areaOf(of));
      await files.remove(of);
    },
    removeProject: async (id) => {
      await store.write(async ({ db }) => {
        await db.deleteFrom('shared_traces').where('project_id', '=', id).execute();
      });
      await blobs.removeArea(`${projectArea(id)}/traces`);
      await files.removeProject(id);
    },
    close: async () => await files.close(),
  };
};
