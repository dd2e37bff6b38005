/**
 * Work that starts with the commit of its cause: it is enqueued under a lease of this process, if the worker has room
 * and no other piece has its turn, which saves the transaction that would take it. Only where a single process has the
 * database: elsewhere two processes could lease the same turn, and the cause would fail.
 */
import { compiled, getStoreKey } from '../db/compiled_query.ts';
import type { Reader, Tx } from '../db/open.ts';
import { processName } from '../db/process_name.ts';
import { type LeasedWork, lease } from './leases.ts';

/** Keeps room for a piece, until it is told what to run, or null. Returns null if there is no room. */
export type KeepRoom = (name: string) => ((taken: LeasedWork | null) => void) | null;

const workers = new WeakMap<object, KeepRoom>();

/** Lets transactions of a store start work on a worker. Returns a function that ends this. */
export const offerRoom = (db: Reader, keepRoom: KeepRoom): (() => void) => {
  const key = getStoreKey(db);
  workers.set(key, keepRoom);
  return () => void (workers.get(key) === keepRoom && workers.delete(key));
};

const takenTurns = compiled((db, { turns }: { turns: readonly string[] }, dialect) =>
  db.selectFrom('work').select('turn').where(dialect.oneOf('turn', turns)).compile(),
);

type Row = {
  name: string;
  payload: string;
  unique_key: string | null;
  turn: string | null;
  run_at: number;
  trace: string | null;
};

type Held = { unique_key: null; attempts: number; locked_until: number; locked_by: string };

/** A row to insert, and what tells the worker to run it; null: it waits to be taken. */
export type Started<R> = {
  row: R | (Omit<R, keyof Held> & Held);
  tell: ((id: number | null) => void) | null;
};

/** Leases the rows that can start at once. Each of them must be told its id after the commit, or null. */
export const holdRows = async <R extends Row>(tx: Tx, rows: readonly R[]): Promise<Started<R>[]> => {
  const keepRoom = workers.get(getStoreKey(tx.db));
  const turns = rows.flatMap(({ turn }) => turn ?? []);
  if (keepRoom === undefined || turns.length === 0) return rows.map((row) => ({ row, tell: null }));
  const taken = new Set((await takenTurns(tx.db, { turns })).map(({ turn }) => turn));
  return rows.map((row) => {
    const { name, payload, unique_key, turn, trace } = row;
    // A later piece with the same key then has the same turn, and waits.
    const isFree = turn !== null && turn === unique_key && row.run_at <= tx.now && !taken.has(turn);
    // Also for later rows with this turn, by which the id of the row is found.
    if (turn !== null) taken.add(turn);
    const start = isFree ? keepRoom(name) : null;
    if (start === null) return { row, tell: null };
    const piece = { name, payload, attempts: 1, excused_attempts: 0, unique_key, trace };
    const held = { unique_key: null, attempts: 1, locked_until: tx.now + lease, locked_by: processName };
    return { row: { ...row, ...held }, tell: (id) => start(id === null ? null : { ...piece, id }) };
  });
};
