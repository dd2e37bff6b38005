/** The rows of what grows in the database: one for the whole, and one for each of its pieces. */
import { type Selectable, sql } from 'kysely';
import type { Reader, Tx } from '../db/open.ts';
import type { SharedTracesTable } from '../db/schema_ci.ts';
import type { Named } from './append_files.ts';

export type Whole = Selectable<SharedTracesTable>;
export type Piece = { start: number; bytes: Buffer };

export const wholeOf = async (db: Reader, { id }: Named): Promise<Whole | null> =>
  (await db.selectFrom('shared_traces').selectAll().where('job_id', '=', id).executeTakeFirst()) ?? null;

/** Nobody else changes it until the transaction ends. */
export const lockWhole = async (tx: Tx, { id }: Named): Promise<Whole | null> =>
  (await tx.db
    .selectFrom('shared_traces')
    .selectAll()
    .where('job_id', '=', id)
    .modifyEnd(tx.words.forUpdate)
    .executeTakeFirst()) ?? null;

export const insertWhole = async ({ db }: Tx, { id, project_id }: Named): Promise<void> => {
  await db
    .insertInto('shared_traces')
    .values({ job_id: id, project_id, size: 0, crc: 0, sha256: null, waits_since: null })
    .onConflict((clash) => clash.doNothing())
    .execute();
};

export const setWhole = async (
  { db }: Tx,
  { id }: Named,
  set: { size: number; crc: number; sha256: string | null; waits_since?: null },
): Promise<void> => {
  await db.updateTable('shared_traces').set(set).where('job_id', '=', id).execute();
};

/** What is finished, and not in the bucket, is tried again until it is. */
export const setWaiting = async ({ db, now }: Tx, { id }: Named): Promise<void> => {
  await db
    .updateTable('shared_traces')
    .set({ waits_since: now })
    .where('job_id', '=', id)
    .where('sha256', 'is', null)
    .execute();
};

/** Those that wait for the bucket, the longest first. */
export const waitingWholes = async (db: Reader, limit: number): Promise<Whole[]> =>
  await db
    .selectFrom('shared_traces')
    .selectAll()
    .where('waits_since', 'is not', null)
    .orderBy('waits_since')
    .orderBy('job_id')
    .limit(limit)
    .execute();

export const insertPiece = async ({ db }: Tx, { id }: Named, { start, bytes }: Piece): Promise<void> => {
  if (bytes.length === 0) return;
  await db.insertInto('shared_trace_pieces').values({ job_id: id, start, bytes }).execute();
};

/** @param from the start of the first that goes */
export const deletePieces = async ({ db }: Tx, { id }: Named, from = 0): Promise<void> => {
  await db.deleteFrom('shared_trace_pieces').where('job_id', '=', id).where('start', '>=', from).execute();
};

/** Pieces that are read at once. */
const most = 8;

/**
 * Those that have the bytes from `start` to before `end`, in their order: the first few.
 * @param limit null: all
 */
export const piecesOf = async (
  db: Reader,
  { id }: Named,
  { start, end, limit = most }: { start: number; end: number; limit?: number | null },
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
    .$if(limit !== null, (query) => query.limit(limit ?? most))
    .execute();
  return rows
    .map(({ start: at, bytes }) => ({ start: at, bytes: Buffer.from(bytes) }))
    .filter((piece) => piece.start + piece.bytes.length > start);
};

/** What lies between two places of these pieces, which have it. */
export const between = (pieces: readonly Piece[], start: number, end: number): Buffer => {
  const [first] = pieces;
  if (first === undefined || end <= start) return Buffer.alloc(0);
  return Buffer.concat(pieces.map(({ bytes }) => bytes)).subarray(start - first.start, end - first.start);
};
