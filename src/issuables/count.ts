/**
 * Exact totals of filtered lists. SQLite answers in the thread that asks, which meanwhile serves nobody: what may take
 * longer than a few milliseconds is counted in a thread with a read handle of its own.
 */
import { statSync } from 'node:fs';
import type { SQLInputValue } from 'node:sqlite';
import type { RawBuilder } from 'kysely';
import { type Call, userOf } from '../access/call.ts';
import { type Program, programPath } from '../apart/program.ts';
import { TooMuch, runApart } from '../apart/threads.ts';
import { unavailable } from '../errors.ts';
import { oncePer } from '../once_per.ts';
import type { Store } from '../db/open.ts';

export type CountTask = { file: string; text: string; parameters: SQLInputValue[] };

type Counted = { total: number; milliseconds: number };

const program: Program = {
  path: programPath(import.meta, 'count_thread.ts', 'count_thread'),
  longest: 30_000,
  memory: 64,
};

/** Records that are counted in place: two milliseconds. */
const mostInPlace = 5_000;
/** Milliseconds that a count took last: one that was as quick is made in place, however many records there are. */
const longestInPlace = 3;
const mostRemembered = 1_000;

/** How long counts took last, by text and parameters. */
const durationsOf = oncePer((_store: Store) => new Map<string, number>());

const remember = (durations: Map<string, number>, key: string, milliseconds: number): void => {
  durations.delete(key);
  durations.set(key, milliseconds);
  if (durations.size > mostRemembered) durations.delete(durations.keys().next().value ?? '');
};

const countInThread = async (task: CountTask, owner: string): Promise<Counted> => {
  try {
    return (await runApart(program, { owner, task })) as Counted;
  } catch (error) {
    if (error instanceof TooMuch) throw unavailable();
    throw error;
  }
};

type Query = {
  /** `select count(*) as total ...` */
  count: RawBuilder<{ total: number }>;
  /** At most as many records are read; null: it is not known. */
  most: number | null;
};

/** Bytes of a database that holds no more than some thousand records. */
const smallDatabase = 16 * 2 ** 20;

const isSmall = (file: string, most: number | null): boolean =>
  most === null ? statSync(file).size <= smallDatabase : most <= mostInPlace;

/** The exact total. */
export const countRecords = async (call: Call, { count, most }: Query): Promise<number> => {
  const { store } = call.platform;
  if (store.file === null) return (await count.execute(call.db)).rows[0]?.total ?? 0;
  const { sql: text, parameters } = count.compile(call.db);
  const durations = durationsOf(store);
  const key = JSON.stringify([text, parameters]);
  const isQuick = isSmall(store.file, most) || (durations.get(key) ?? Infinity) <= longestInPlace;
  if (!isQuick) {
    const task = { file: store.file, text, parameters: parameters as SQLInputValue[] };
    const { total, milliseconds } = await countInThread(task, `counts of ${userOf(call).id}`);
    remember(durations, key, milliseconds);
    return total;
  }
  const began = performance.now();
  const { rows } = await count.execute(call.db);
  remember(durations, key, performance.now() - began);
  return rows[0]?.total ?? 0;
};
