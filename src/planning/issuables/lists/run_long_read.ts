/**
 * Runs reads that may take long: exact totals of filtered lists, and searches without an index. SQLite blocks the
 * calling thread, so a read that may take more than a few milliseconds runs in a worker thread with its own handle.
 */
import { statSync } from 'node:fs';
import type { SQLInputValue } from 'node:sqlite';
import type { RawBuilder } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { noteTablesOf } from '../../../platform/db/compiled_query.ts';
import { programPath } from '../../../platform/package_files.ts';
import type { Program } from '../../../platform/workers/program_path.ts';
import { WorkerLimitError, runInWorker } from '../../../platform/workers/run_in_worker.ts';
import { unavailable } from '../../../platform/errors.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import { makeTurns } from '../../../platform/workers/take_turns.ts';
import type { Platform } from '../../../core/platform.ts';
import type { Store } from '../../../platform/db/open.ts';

export type ReadTask = { file: string; text: string; parameters: SQLInputValue[] };

type ReadRows<T> = { rows: T[]; milliseconds: number };

const program: Program = {
  path: programPath('src/planning/issuables/lists/long_read_worker.ts', 'long_read_worker'),
  maxMilliseconds: 30_000,
  memory: 64,
};

/** Records that are read in the main thread; takes about two milliseconds. */
const maxRecordsInMainThread = 5_000;
/** Milliseconds that a read took last: one that was as quick is done in place, however many records there are. */
const maxMillisecondsInMainThread = 3;
/** The same on PostgreSQL, of reads that need not wait for their turn. */
const maxMillisecondsOutOfTurn = 20;
const maxDurations = 1_000;

/** Duration of the last run of each read, by SQL text and parameters. */
const getDurations = memoizePerStore((_store: Store) => new Map<string, number>());

const remember = (durations: Map<string, number>, key: string, milliseconds: number): void => {
  durations.delete(key);
  durations.set(key, milliseconds);
  if (durations.size > maxDurations) durations.delete(durations.keys().next().value ?? '');
};

const readInThread = async <T>(task: ReadTask, owner: string): Promise<ReadRows<T>> => {
  try {
    return (await runInWorker(program, { owner, task })) as ReadRows<T>;
  } catch (error) {
    if (error instanceof WorkerLimitError) throw unavailable();
    throw error;
  }
};

type Query<T> = {
  query: RawBuilder<T>;
  /** Upper bound of records that are read; null if unknown. */
  maxRecords: number | null;
};

/** Size in bytes of a database with at most a few thousand records. */
const smallDatabase = 16 * 2 ** 20;

const isSmall = (file: string, maxRecords: number | null): boolean =>
  maxRecords === null ? statSync(file).size <= smallDatabase : maxRecords <= maxRecordsInMainThread;

/** PostgreSQL: reads that may take long have a third of the connections. */
const getTurns = memoizePerStore(({ config }: Platform) =>
  makeTurns(Math.max(2, Math.floor(config.database_connections / 3))),
);

/** All anonymous visitors share one owner, so that crawlers do not take the places of users. */
const getOwner = ({ actor }: Call): string => `reads of ${actor?.user.id ?? 'anonymous visitors'}`;

/** Reads in a connection of PostgreSQL: in turn with others, unless it was quick the last time. */
const readInTurn = async <T>(call: Call, query: RawBuilder<T>, key: string): Promise<T[]> => {
  const durations = getDurations(call.platform.store);
  const read = async (): Promise<T[]> => {
    const began = performance.now();
    const { rows } = await query.execute(call.db);
    remember(durations, key, performance.now() - began);
    return rows;
  };
  if ((durations.get(key) ?? Infinity) <= maxMillisecondsOutOfTurn) return await read();
  return await getTurns(call.platform)(getOwner(call), read);
};

/** Returns the rows of a query that may read many records. */
export const readMany = async <T>(call: Call, { query, maxRecords }: Query<T>): Promise<T[]> => {
  const { store } = call.platform;
  const { sql: text, parameters } = query.compile(call.db);
  const key = JSON.stringify([text, parameters]);
  if (store.file === null) return await readInTurn(call, query, key);
  const durations = getDurations(store);
  const isQuick =
    isSmall(store.file, maxRecords) || (durations.get(key) ?? Infinity) <= maxMillisecondsInMainThread;
  if (!isQuick) {
    noteTablesOf(call.db, text);
    const task = { file: store.file, text, parameters: parameters as SQLInputValue[] };
    const read = await readInThread<T>(task, getOwner(call));
    remember(durations, key, read.milliseconds);
    return read.rows;
  }
  const began = performance.now();
  const { rows } = await query.execute(call.db);
  remember(durations, key, performance.now() - began);
  return rows;
};
