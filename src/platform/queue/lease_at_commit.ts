/**
 * Leases work for this process when its cause commits, if the worker has a free slot and no other work has its turn.
 * This saves the transaction that would take it. Only if a single process has the database: elsewhere two processes
 * could lease the same turn, and the cause would fail.
 */
import { compiled, getStoreKey } from '../db/compiled_query.ts';
import type { Reader, Tx } from '../db/open.ts';
import { processName } from '../db/process_name.ts';
import { type LeasedWork, lease } from './leases.ts';

/**
 * Reserves a slot. Call the result with the leased work, or with null to release the slot.
 * @returns null if no slot is free
 */
export type ReserveSlot = (name: string) => ((taken: LeasedWork | null) => void) | null;

const workers = new WeakMap<object, ReserveSlot>();

/** Lets transactions of a store lease work for a worker. Returns a function that ends this. */
export const offerSlots = (db: Reader, reserveSlot: ReserveSlot): (() => void) => {
  const key = getStoreKey(db);
  workers.set(key, reserveSlot);
  return () => void (workers.get(key) === reserveSlot && workers.delete(key));
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

/** A row to insert. `onCommitted` gives it to the worker; null if the worker takes it later. */
export type LeasedRow<R> = {
  row: R | (Omit<R, keyof Held> & Held);
  onCommitted: ((id: number | null) => void) | null;
};

/**
 * Leases the rows that can start. After the commit, call each `onCommitted` with the row's id, or with null on rollback.
 */
export const leaseRows = async <R extends Row>(tx: Tx, rows: readonly R[]): Promise<LeasedRow<R>[]> => {
  const reserveSlot = workers.get(getStoreKey(tx.db));
  const turns = rows.flatMap(({ turn }) => turn ?? []);
  if (reserveSlot === undefined || turns.length === 0) return rows.map((row) => ({ row, onCommitted: null }));
  const taken = new Set((await takenTurns(tx.db, { turns })).map(({ turn }) => turn));
  return rows.map((row) => {
    const { name, payload, unique_key, turn, trace } = row;
    // A later piece with the same key then has the same turn, and waits.
    const isFree = turn !== null && turn === unique_key && row.run_at <= tx.now && !taken.has(turn);
    // Also for later rows with this turn, by which the id of the row is found.
    if (turn !== null) taken.add(turn);
    const start = isFree ? reserveSlot(name) : null;
    if (start === null) return { row, onCommitted: null };
    const piece = { name, payload, attempts: 1, excused_attempts: 0, unique_key, trace };
    const held = { unique_key: null, attempts: 1, locked_until: tx.now + lease, locked_by: processName };
    return { row: { ...row, ...held }, onCommitted: (id) => start(id === null ? null : { ...piece, id }) };
  });
};
