/** What starts and ends change of a job's row: queries of every job, made once. */
import { type AliasedRawBuilder, sql } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Tx } from '../db/open.ts';
import type { Words } from '../db/engine.ts';
import type { Job } from './store.ts';

export type Start = {
  runner_id: number;
  system_id: string | null;
  token_hash: string;
  /** Seconds. */
  timeout: number;
  cancels_gracefully?: 0 | 1;
};

type At = { id: number; now: number };

type StartRow = Required<Start> & { id: number };

const cell = <T>(name: string, at: number, type: 'bigint' | 'text'): AliasedRawBuilder<T, string> =>
  sql<T>`cast(value ->> ${sql.lit(at)} as ${sql.raw(type)})`.as(name);

/** The values of a start, a row of the table `start` each. */
const startRows = (words: Words, rows: readonly (readonly unknown[])[]) => {
  const cells = [
    cell('id', 0, 'bigint'),
    cell('runner_id', 1, 'bigint'),
    cell('system_id', 2, 'text'),
    cell('token_hash', 3, 'text'),
    cell('timeout', 4, 'bigint'),
    cell('cancels_gracefully', 5, 'bigint'),
  ];
  return sql<StartRow>`(select ${sql.join(cells)} from ${words.eachOf(rows)})`.as<'start'>(sql.ref('start'));
};

const startUpdates = compiled((db, given: { rows: unknown[][]; now: number }, words) =>
  db
    .updateTable('jobs')
    .from(startRows(words, given.rows))
    .set((is) => ({
      status: 'running',
      runner_id: is.ref('start.runner_id'),
      system_id: is.ref('start.system_id'),
      token_hash: is.ref('start.token_hash'),
      timeout: is.ref('start.timeout'),
      cancels_gracefully: is.ref('start.cancels_gracefully'),
      started_at: given.now,
      updated_at: given.now,
    }))
    .whereRef('jobs.id', '=', 'start.id')
    .returning('jobs.id')
    .compile(),
);

const only = ([row]: Job[]): Job => {
  if (row === undefined) throw new Error('a job is gone under its lock');
  return row;
};

/** All of them in one statement. Brings the rows up to date, too, and answers them in the same order. */
export const startAllRows = async (
  { db, now }: Tx,
  starting: readonly { job: Job; start: Start }[],
): Promise<Job[]> => {
  const rows = starting.map(({ job: { id }, start }) => [
    id,
    start.runner_id,
    start.system_id,
    start.token_hash,
    start.timeout,
    start.cancels_gracefully ?? 0,
  ]);
  const changed = await startUpdates(db, { rows, now });
  if (changed.length !== rows.length) throw new Error('a job is gone under its lock');
  const same = { status: 'running', started_at: now, updated_at: now } as const;
  // Not copied: they are long, and of each job that is given away.
  return starting.map(({ job, start }) => Object.assign(job, start, same));
};

export type End = Pick<Job, 'status' | 'failure_reason' | 'exit_code' | 'coverage'>;

const endUpdate = compiled((db, given: End & At & { finished_at: number }) =>
  db
    .updateTable('jobs')
    .set({
      status: given.status,
      failure_reason: given.failure_reason,
      exit_code: given.exit_code,
      coverage: given.coverage,
      token_hash: null,
      finished_at: given.finished_at,
      updated_at: given.now,
    })
    .where('id', '=', given.id)
    .returningAll()
    .compile(),
);

/** Of a job that succeeded: what its runner said, and how long its log is. */
export type Success = {
  exit_code: number | null;
  /** Hundredths of a percent. */
  coverage: number | null;
  trace: { size: number; crc: number | null } | null;
};

type SuccessRow = {
  id: number;
  exit_code: number | null;
  coverage: number | null;
  trace_size: number | null;
  trace_crc: number | null;
};

const successRows = (words: Words, rows: readonly (readonly unknown[])[]) => {
  const cells = (['id', 'exit_code', 'coverage', 'trace_size', 'trace_crc'] as const).map((name, at) =>
    cell(name, at, 'bigint'),
  );
  return sql<SuccessRow>`(select ${sql.join(cells)} from ${words.eachOf(rows)})`.as<'told'>(sql.ref('told'));
};

const successUpdates = compiled((db, given: { rows: unknown[][]; now: number }, words) =>
  db
    .updateTable('jobs')
    .from(successRows(words, given.rows))
    .set((is) => ({
      status: 'success',
      failure_reason: null,
      exit_code: is.ref('told.exit_code'),
      coverage: is.ref('told.coverage'),
      trace_size: is.ref('told.trace_size'),
      trace_crc: is.ref('told.trace_crc'),
      token_hash: null,
      finished_at: given.now,
      updated_at: given.now,
    }))
    .whereRef('jobs.id', '=', 'told.id')
    .returning('jobs.id')
    .compile(),
);

/** All of them in one statement. */
export const succeedRows = async (
  { db, now }: Tx,
  all: readonly { id: number; success: Success }[],
): Promise<void> => {
  const rows = all.map(({ id, success: { exit_code, coverage, trace } }) => [
    id,
    exit_code,
    coverage,
    trace?.size ?? null,
    trace?.crc ?? null,
  ]);
  const changed = await successUpdates(db, { rows, now });
  if (changed.length !== rows.length) throw new Error('a job is gone under its lock');
};

/** One that is being cancelled has its time of end already. */
export const endRow = async ({ db, now }: Tx, { id, finished_at }: Job, end: End): Promise<Job> =>
  only(await endUpdate(db, { ...end, id, now, finished_at: finished_at ?? now }));
