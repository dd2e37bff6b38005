/** Rows of append-only files in the database: one for the file, and one for each of its pieces. */
import { type Selectable, sql } from 'kysely';
import type { Reader, Tx } from '../db/open.ts';
import type { SharedTracesTable } from '../db/schema/ci.ts';
import type { TraceKey as File } from './trace_path.ts';

export type FileRow = Selectable<SharedTracesTable>;
/** Names a file by its job. Rows need no random key, because they are restored together with the job. */
export type FileKey = Omit<File, 'trace_key'>;
export type Piece = { start: number; bytes: Buffer };

export const loadFileRow = async (db: Reader, { id }: FileKey): Promise<FileRow | null> =>
  (await db.selectFrom('shared_traces').selectAll().where('job_id', '=', id).executeTakeFirst()) ?? null;

/** Locks a file's row until the transaction ends. */
export const lockFileRow = async (tx: Tx, { id }: FileKey): Promise<FileRow | null> =>
  (await tx.db
    .selectFrom('shared_traces')
    .selectAll()
    .where('job_id', '=', id)
    .modifyEnd(tx.dialect.forUpdate)
    .executeTakeFirst()) ?? null;

export const insertFileRow = async ({ db }: Tx, { id, project_id }: FileKey): Promise<void> => {
  await db
    .insertInto('shared_traces')
    .values({ job_id: id, project_id, size: 0, crc: 0, sha256: null, waits_since: null })
    .onConflict((clash) => clash.doNothing())
    .execute();
};

export const updateFileRow = async (
  { db }: Tx,
  { id }: FileKey,
  set: { size: number; crc: number; sha256: string | null; waits_since?: null },
): Promise<void> => {
  await db.updateTable('shared_traces').set(set).where('job_id', '=', id).execute();
};

/** Marks a finished file to be archived again later. */
export const markWaiting = async ({ db, now }: Tx, { id }: FileKey): Promise<void> => {
  await db
    .updateTable('shared_traces')
    .set({ waits_since: now })
    .where('job_id', '=', id)
    .where('sha256', 'is', null)
    .execute();
};

/** Lists files that wait for the bucket, longest wait first. */
export const listWaitingFiles = async (db: Reader, limit: number): Promise<FileRow[]> =>
  await db
    .selectFrom('shared_traces')
    .selectAll()
    .where('waits_since', 'is not', null)
    .orderBy('waits_since')
    .orderBy('job_id')
    .limit(limit)
    .execute();

export const insertPiece = async ({ db }: Tx, { id }: FileKey, { start, bytes }: Piece): Promise<void> => {
  if (bytes.length === 0) return;
  await db.insertInto('shared_trace_pieces').values({ job_id: id, start, bytes }).execute();
};

/**
 * Deletes pieces of a file.
 * @param from start of the first piece to delete
 */
export const deletePieces = async ({ db }: Tx, { id }: FileKey, from = 0): Promise<void> => {
  await db.deleteFrom('shared_trace_pieces').where('job_id', '=', id).where('start', '>=', from).execute();
};

const maxPiecesPerRead = 8;

/**
 * Loads the pieces that contain the bytes from `start` to before `end`, in order.
 * @param limit null: all
 */
export const loadPieces = async (
  db: Reader,
  { id }: FileKey,
  { start, end, limit = maxPiecesPerRead }: { start: number; end: number; limit?: number | null },
): Promise<Piece[]> => {
  const first = sql<number>`coalesce((select max(start) from shared_trace_pieces
    where job_id = ${id} and start <= ${start}), 0)`;
  const rows = await db
    .selectFrom('shared_trace_pieces')
    .select(['start', 'bytes'])
    .where('job_id', '=', id)
    .where('start', '>=', first)
    .where('start', '<', end)
    .orderBy('start')
    .$if(limit !== null, (query) => query.limit(limit ?? maxPiecesPerRead))
    .execute();
  return rows
    .map(({ start: at, bytes }) => ({ start: at, bytes: Buffer.from(bytes) }))
    .filter((piece) => piece.start + piece.bytes.length > start);
};

/** Extracts the bytes between two offsets from pieces that contain them. */
export const extractBytes = (pieces: readonly Piece[], start: number, end: number): Buffer => {
  const [first] = pieces;
  if (first === undefined || end <= start) return Buffer.alloc(0);
  return Buffer.concat(pieces.map(({ bytes }) => bytes)).subarray(start - first.start, end - first.start);
};
