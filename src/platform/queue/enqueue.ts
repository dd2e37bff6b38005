/**
 * The work queue: a table of rows with a name and a payload, written in the transaction of their cause and leased by
 * workers. Handlers must be safe to run twice, because a process may die between finishing work and recording it.
 */
import { insertRows, maxCachedRows } from '../db/insert.ts';
import { insertMany } from '../db/insert_many.ts';
import type { Tx } from '../db/open.ts';
import { currentMeter } from '../db/statement_meter.ts';
import { formatTraceparent } from '../tracing/trace_context.ts';
import { announceWork } from './announce_work.ts';
import { leaseRows } from './lease_at_commit.ts';
import type { RunningPiece } from './leases.ts';

export type Payload = { [name: string]: number | string | boolean | null };
/** Context of a handler, in addition to the payload. */
export type WorkRun = {
  /** Trace context of the request or work that enqueued the piece; null if it was not traced. */
  traceparent: string | null;
  /** Aborted when the worker stops: long work then fails as in an outage, and runs again later. */
  stopping: AbortSignal;
  /**
   * Finishes the piece in a transaction of its handler, which saves a separate transaction. The handler then only
   * returns.
   */
  finishIn: (tx: Tx) => Promise<void>;
  /** For `finishTogether`, which finishes the pieces of several handlers in one transaction. */
  piece: RunningPiece;
};
export type WorkHandler = (payload: Payload, run: WorkRun) => Promise<void>;

type Options = {
  unique_key?: string;
  turn?: string;
  run_at?: number;
  /** Starts with the commit, if it can: for small work with a turn that is also its unique key. */
  startsAtOnce?: boolean;
};

/** Returns the trace of the request or work that runs, if it is sent to a collector. */
const getTraceparent = (): string | null => {
  const trace = currentMeter()?.trace ?? null;
  return trace?.isSampled === true ? formatTraceparent(trace) : null;
};

const toRow = (tx: Tx, name: string, { payload, options = {} }: { payload: Payload; options?: Options }) => {
  const { run_at = tx.now, unique_key = null, turn = null } = options;
  return {
    name,
    payload: JSON.stringify(payload),
    unique_key,
    turn,
    run_at,
    locked_until: null,
    locked_by: null,
    last_error: null,
    created_at: tx.now,
    attempts: 0,
    trace: getTraceparent(),
  };
};

const onWaitingRow = `on conflict (unique_key) do update
  set run_at = case when work.run_at < excluded.run_at then work.run_at else excluded.run_at end`;

type Inserted = { id: number; turn: string };

/** Inserts work, and leases what can start when the transaction commits. */
const insertStarting = async (
  tx: Tx,
  name: string,
  rows: readonly ReturnType<typeof toRow>[],
): Promise<void> => {
  const leased = await leaseRows(tx, rows);
  const ids = new Map<string, number>();
  tx.afterEnd((isCommitted) => {
    for (const { row, onCommitted } of leased)
      onCommitted?.(isCommitted ? (ids.get(row.turn ?? '') ?? null) : null);
  });
  const inserts = leased.map(({ row }) => row);
  const inserted = await insertRows<'work', Inserted>(
    tx.db,
    'work',
    inserts,
    `${onWaitingRow} returning id, turn`,
  );
  for (const { id, turn } of inserted) if (!ids.has(turn)) ids.set(turn, id);
  if (leased.some(({ row, onCommitted }) => onCommitted === null && row.run_at <= tx.now))
    announceWork(tx, name);
};

/** Enqueues several pieces of work, whose unique keys must differ. */
export const enqueueAll = async (
  tx: Tx,
  name: string,
  pieces: readonly { payload: Payload; options?: Options }[],
): Promise<void> => {
  const rows = pieces.map((piece) => toRow(tx, name, piece));
  if (rows.length <= maxCachedRows && pieces.every(({ options }) => options?.startsAtOnce === true))
    return await insertStarting(tx, name, rows);
  if (rows.length <= maxCachedRows) await insertRows(tx.db, 'work', rows, onWaitingRow);
  else await insertMany(tx, 'work', rows, onWaitingRow);
  if (rows.some(({ run_at }) => run_at <= tx.now)) announceWork(tx, name);
};

/**
 * Enqueues one piece of work. With a `unique_key`, adds nothing while such a row waits, and at most makes it run
 * earlier. Work with the same `turn` runs one at a time across all processes, oldest first.
 */
export const enqueue = async (tx: Tx, name: string, payload: Payload, options: Options = {}): Promise<void> =>
  await enqueueAll(tx, name, [{ payload, options }]);
